# Five kernels as people write them in Triton; their PTX lies beside this file as triton_NAME.ptx.
#
#   python3 triton_kernels.py    with triton 3.9.0, no GPU; debug sections and folders of .file were cut out
import re

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def matmul(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a = A + rm[:, None] * K + rk[None, :]
    b = B + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc += tl.dot(tl.load(a), tl.load(b))
        a += BK
        b += BK * N
    tl.store(C + rm[:, None] * N + rn[None, :], acc.to(tl.float16))


@triton.jit
def softmax(X, Y, n, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    x = tl.load(X + r * n + c, mask=c < n, other=-float('inf'))
    x = tl.exp(x - tl.max(x, axis=0))
    tl.store(Y + r * n + c, x / tl.sum(x, axis=0), mask=c < n)


@triton.jit
def layernorm(X, Y, W, Bi, n, eps, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    m = c < n
    x = tl.load(X + r * n + c, mask=m, other=0.)
    mean = tl.sum(x, axis=0) / n
    d = tl.where(m, x - mean, 0.)
    rstd = 1 / tl.sqrt(tl.sum(d * d, axis=0) / n + eps)
    tl.store(Y + r * n + c, d * rstd * tl.load(W + c, mask=m) + tl.load(Bi + c, mask=m), mask=m)


@triton.jit
def attention(Q, K, V, O, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    rn = tl.arange(0, BN)
    q = tl.load(Q + rm[:, None] * D + rd[None, :])
    m = tl.full((BM,), -float('inf'), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for j in range(0, n, BN):
        k = tl.load(K + (j + rn)[None, :] * D + rd[:, None])
        s = tl.dot(q, k) * scale
        mn = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - mn[:, None])
        al = tl.exp2(m - mn)
        l = l * al + tl.sum(p, 1)
        v = tl.load(V + (j + rn)[:, None] * D + rd[None, :])
        acc = acc * al[:, None] + tl.dot(p.to(tl.float16), v)
        m = mn
    tl.store(O + rm[:, None] * D + rd[None, :], (acc / l[:, None]).to(tl.float16))


H, F, E = "*fp16", "*fp32", "*fp8e4nv"
KERNELS = [
    ("matmul", matmul, dict(A=H, B=H, C=H, M="i32", N="i32", K="i32"), dict(BM=64, BN=64, BK=32)),
    ("fp8", matmul, dict(A=E, B=E, C=H, M="i32", N="i32", K="i32"), dict(BM=64, BN=64, BK=64)),
    ("attention", attention, dict(Q=H, K=H, V=H, O=H, n="i32", scale="fp32"), dict(D=64, BM=64, BN=64)),
    ("softmax", softmax, dict(X=F, Y=F, n="i32"), dict(B=1024)),
    ("layernorm", layernorm, dict(X=F, Y=F, W=F, Bi=F, n="i32", eps="fp32"), dict(B=1024)),
]
for name, fn, types, constants in KERNELS:
    aligned = {(i,): [["tt.divisibility", 16]] for i, k in enumerate(types) if types[k] != "fp32"}
    source = ASTSource(fn=fn, signature={**types, **{k: "constexpr" for k in constants}},
                       constexprs=constants, attrs=aligned)
    made = triton.compile(source, target=GPUTarget("cuda", 90, 32),
                          options={"num_warps": 4, "num_stages": 3})
    text = re.sub(r"\t\.section.*?\n\t}\n", "", made.asm["ptx"], flags=re.S)
    text = re.sub(r'(\.file\s+\d+ )"[^"]*/', r'\1"', text)
    open(f"triton_{name}.ptx", "w").write(text)
    print(name, made.metadata.shared)
