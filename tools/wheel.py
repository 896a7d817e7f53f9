"""Writes a wheel from an installed folder: bin/ becomes scripts, the rest data.

    tools/wheel.py PREFIX 'gemmview 0.1.0' DIST LICENSE…

The tag of the platform is read from the files themselves: the machine from their ELF headers, the
glibc from the newest version of a symbol that any of them asks for. The same input gives the same
bytes.
"""

import base64
import hashlib
import pathlib
import re
import struct
import subprocess
import sys
import zipfile

MACHINES = {62: "x86_64", 183: "aarch64"}  # e_machine of ELF
# What pip and auditwheel call manylinux_X_Y begins there; an older program is good for it too.
OLDEST_GLIBC = {"x86_64": (2, 5), "aarch64": (2, 17)}

METADATA = """\
Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: Interactive terminal explorer for GPU matrix multiplication kernels
License: Apache-2.0
Keywords: CUDA,GEMM,GPU,PTX,TUI
Classifier: Environment :: Console :: Curses
Classifier: Environment :: GPU :: NVIDIA CUDA
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Description-Content-Type: text/markdown

{description}"""

WHEEL = """\
Wheel-Version: 1.0
Generator: tools/wheel.py
Root-Is-Purelib: false
Tag: {tag}
"""


def elf_machine(path):
    """The machine of an ELF file, or None for any other file."""
    head = path.read_bytes()[:20]
    return MACHINES[struct.unpack("<H", head[18:20])[0]] if head[:4] == b"\x7fELF" else None


def glibc_wanted(path):
    """The newest (major, minor) of glibc among the versions that a file needs."""
    listing = subprocess.run(["readelf", "-W", "--version-info", path], check=True,
                             capture_output=True, text=True).stdout
    return max(tuple(map(int, v)) for v in re.findall(r"Name: GLIBC_(\d+)\.(\d+)", listing))


def platform_tag(files):
    programs = [file for file in files if elf_machine(file)]
    (machine,) = {elf_machine(file) for file in programs}
    major, minor = max([OLDEST_GLIBC[machine]] + [glibc_wanted(file) for file in programs])
    return f"py3-none-manylinux_{major}_{minor}_{machine}"


class Wheel:
    """A zip that notes every file in RECORD, which is its last."""

    def __init__(self, path, info):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.info, self.record = info, ""

    def write(self, name, data, mode=0o644):
        entry = zipfile.ZipInfo(name)  # of 1980: the same input gives the same bytes
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record += f"{name},sha256={digest},{len(data)}\n"

    def close(self):
        name = f"{self.info}/RECORD"
        self.write(name, (self.record + f"{name},,\n").encode())
        self.zip.close()


def main(prefix, name_and_version, dist, *licenses):
    name, version = name_and_version.split()
    prefix = pathlib.Path(prefix)
    files = sorted(file for file in prefix.rglob("*") if file.is_file())
    tag = platform_tag(files)
    path = pathlib.Path(dist) / f"{name}-{version}-{tag}.whl"
    info, data = f"{name}-{version}.dist-info", f"{name}-{version}.data"
    wheel = Wheel(path, info)
    for file in files:
        inside = file.relative_to(prefix)
        part = f"scripts/{inside.name}" if inside.parts[0] == "bin" else f"data/{inside}"
        wheel.write(f"{data}/{part}", file.read_bytes(), file.stat().st_mode & 0o777)
    for file in map(pathlib.Path, licenses):
        wheel.write(f"{info}/licenses/{file.name}", file.read_bytes())
    description = pathlib.Path("README.md").read_text(encoding="utf-8")
    wheel.write(f"{info}/METADATA", METADATA.format(
        name=name, version=version, description=description).encode())
    wheel.write(f"{info}/WHEEL", WHEEL.format(tag=tag).encode())
    wheel.close()
    print(f"{path}: {path.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main(*sys.argv[1:])
