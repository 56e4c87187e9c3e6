"""Why a run of a workflow goes on, waits or rests: facts, and sentences made of them."""
