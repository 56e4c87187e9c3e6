"""The ids of the checks that look at the project around the manifests. Those of manifests are in
`toa.manifests.problems`."""

from __future__ import annotations

from toa.manifests import problems

NOT_POSTGRESQL = "toa.E101"
ISOLATION = "toa.E102"
NO_TIME_ZONES = "toa.E103"
SETTINGS = "toa.E104"
UNFIT_CONFIGURATION = "toa.E105"
CADENCE = "toa.E106"
NO_MODEL = "toa.E107"
NOT_A_COMPONENT = "toa.E108"
SHARED_VARIABLE = "toa.E109"
DEADLINE_INDEX = "toa.E110"
KEPT_DEADLINES = "toa.E111"

SIGNAL = "toa.W101"
UNSERVED_SORT = "toa.W102"
UNKNOWN_VARIABLE = "toa.W103"
UNREACHABLE = "toa.W104"
UNINDEXED = "toa.W105"
CLOCKS = "toa.W106"
UNREADABLE = "toa.W107"
REPLAYED = "toa.W108"
UNAWAITED = "toa.W109"

MEANINGS: dict[str, str] = {
    **problems.MEANINGS,
    NOT_POSTGRESQL: "the database of `TOA['DATABASE']` is not PostgreSQL 14 or newer",
    ISOLATION: "transactions are not READ COMMITTED",
    NO_TIME_ZONES: "`USE_TZ` is off",
    SETTINGS: "a key or a value of `TOA` does not hold",
    UNFIT_CONFIGURATION: "values for a component's configuration do not fit its manifest",
    CADENCE: "an entry of `TOA['CADENCE']` does not hold",
    NO_MODEL: "a component has an entity and no model",
    NOT_A_COMPONENT: "an app has a manifest, and its config is no `ComponentConfig`",
    SHARED_VARIABLE: "one environment variable stands for two properties",
    DEADLINE_INDEX: "no index holds the deadlines of a component",
    KEPT_DEADLINES: "`kept_deadlines` names what is no moment of the entity",
    SIGNAL: "a signal's receiver misses what operations write",
    UNSERVED_SORT: "no index gives the order of a sweep",
    UNKNOWN_VARIABLE: "an environment variable names no property",
    UNREACHABLE: "the database could not be asked",
    UNINDEXED: "the database has not yet, or not whole, the index of a component's deadlines: nothing of it is claimed",
    CLOCKS: "a schedule falls on a time that a coming change of the clocks skips or repeats",
    UNREADABLE: "rows hold a moment before the year 1, which SQL wrote: nothing of them comes due",
    REPLAYED: "a workflow calls what gives something else, or is done again, at each replay",
    UNAWAITED: "a workflow asks for something and does not await it: nothing is done",
}
"""What each id stands for; the reference page lists them."""
