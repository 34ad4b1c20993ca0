# Runs gammu's PDU codec for a test: one JSON request a line in, one JSON answer a line out.
#   {"decode": "<SMSC and TPDU, hex>"}                      -> {"text", "number", "udh"} or {"error"}
#   {"deliver": "<text>", "number": "+1…", "unicode": bool} -> {"pdus": ["<SMSC and SMS-DELIVER, hex>", …]}
import datetime
import json
import sys

import gammu


def decode(pdu):
    message = gammu.DecodePDU(bytes.fromhex(pdu), True)
    return {"text": message["Text"], "number": message["Number"], "udh": message["UDH"]}


def deliver(request):
    kind = "ConcatenatedTextLong16bit" if request.get("wide") else "ConcatenatedTextLong"
    entries = [{"ID": kind, "Buffer": request["deliver"]}]
    pdus = []
    for message in gammu.EncodeSMS({"Class": -1, "Unicode": request["unicode"], "Entries": entries}):
        message["Type"] = "Deliver"
        message["Number"] = request["number"]
        message["SMSC"] = {"Number": "+15550000000"}
        message["DateTime"] = datetime.datetime(2026, 11, 21, 8, 30, 50)
        pdus.append(gammu.EncodePDU(message, "Deliver").hex())
    return {"pdus": pdus}


for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = decode(request["decode"]) if "decode" in request else deliver(request)
    except Exception as error:  # the answer says what the codec does not take
        answer = {"error": str(error)}
    print(json.dumps(answer, default=lambda value: value.hex()), flush=True)
