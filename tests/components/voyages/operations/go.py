from toa import Error


def transition(input, entry, context):
    if input.get("fail") == "error":
        return Error("ASHORE")
    if input.get("fail"):
        raise ValueError(input.fail)
    entry.miles += input.by
    if "note" in input:
        entry.log = [*(entry.log or []), input.note]
    return {"miles": entry.miles}
