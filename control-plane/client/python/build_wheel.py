"""Builds the wheel of the client (PEP 427) with the standard library: `python3 build_wheel.py [FOLDER]`."""

import base64
import hashlib
import pathlib
import re
import sys
import zipfile

HERE = pathlib.Path(__file__).parent
NAME = "simrack_client"
VERSION = re.search(r'__version__ = "(.+)"', (HERE / NAME / "__init__.py").read_text()).group(1)
METADATA = f"""Metadata-Version: 2.1
Name: simrack-client
Version: {VERSION}
Summary: Real US mobile numbers for agents: buy one with a wallet, text and call
Requires-Python: >=3.9
Provides-Extra: signing
Requires-Dist: ecdsa; extra == "signing"
Requires-Dist: pycryptodomex; extra == "signing"
Description-Content-Type: text/markdown

"""
WHEEL = "Wheel-Version: 1.0\nGenerator: simrack\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build(folder: pathlib.Path) -> pathlib.Path:
    info = f"{NAME}-{VERSION}.dist-info"
    files = {f"{NAME}/{path.name}": path.read_bytes() for path in sorted((HERE / NAME).glob("*.py*")) if path.is_file()}
    files[f"{info}/METADATA"] = (METADATA + (HERE / "README.md").read_text()).encode()
    files[f"{info}/WHEEL"] = WHEEL.encode()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{NAME}-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            # The same time always: the same sources give the same wheel.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return wheel


if __name__ == "__main__":
    print(build(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "dist")))
