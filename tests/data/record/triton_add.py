# A kernel of Triton, launched as often as the first word says, and its own check.
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


n = 10000
x = torch.arange(n, device="cuda", dtype=torch.float32)
y = torch.ones_like(x)
out = torch.empty_like(x)
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1):
    add_kernel[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
right = bool((out == x + 1).all())
print("PASS" if right else "FAIL")
sys.exit(0 if right else 7)
