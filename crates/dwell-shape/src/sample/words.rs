//! The words of names and documentation.

#[rustfmt::skip]
pub(super) const NOUNS: &[&str] = &[
    "account", "alarm", "anchor", "archive", "attachment", "badge", "balance", "barrel", "beacon", "bridge",
    "broker", "bucket", "budget", "cabinet", "cable", "calendar", "canal", "cargo", "catalog", "channel",
    "charter", "cohort", "column", "compass", "contract", "corridor", "courier", "crane", "depot", "device",
    "digest", "dock", "document", "engine", "entry", "envelope", "ferry", "filter", "fleet", "folder",
    "freight", "gallery", "garden", "gate", "grid", "group", "harbour", "index", "invoice", "journal", "kiln",
    "label", "lantern", "ledger", "lever", "library", "list", "locker", "lot", "manifest", "map", "market",
    "meter", "mill", "mirror", "notice", "orchard", "order", "pallet", "parcel", "permit", "pier", "pipeline",
    "policy", "pool", "profile", "quarry", "queue", "rack", "record", "region", "report", "route", "rule",
    "sample", "schedule", "sensor", "shelf", "signal", "silo", "snapshot", "stack", "station", "stream",
    "switch", "table", "tag", "task", "template", "terminal", "ticket", "token", "tool", "tower", "track",
    "trail", "tunnel", "valve", "vault", "vessel", "warehouse", "window", "workshop", "yard", "zone",
];

#[rustfmt::skip]
pub(super) const QUALIFIERS: &[&str] = &[
    "active", "annual", "base", "central", "common", "current", "daily", "default", "direct", "distant",
    "early", "empty", "final", "first", "fixed", "full", "general", "hidden", "idle", "inner", "joint", "large",
    "last", "late", "local", "lower", "main", "maximum", "minimum", "mixed", "narrow", "native", "nested",
    "next", "open", "outer", "partial", "pending", "plain", "primary", "private", "public", "quick", "quiet",
    "rapid", "regular", "remote", "reserved", "second", "shared", "short", "single", "slow", "source", "spare",
    "stable", "target", "total", "upper", "valid", "weekly", "wide", "wooden",
];

#[rustfmt::skip]
pub(super) const PARTS: &[&str] = &[
    "id", "name", "status", "type", "state", "count", "size", "owner", "time", "date", "code", "key", "value",
    "limit", "version", "location", "role", "mode", "format", "level", "reason", "message", "description",
    "path", "address", "token", "number", "range", "unit", "group", "settings", "options", "summary", "details",
    "configuration", "list",
];

pub(super) const COMMON_MEMBERS: &[&str] = &[
    "nextToken",
    "maxResults",
    "name",
    "id",
    "arn",
    "tags",
    "description",
    "status",
    "createdAt",
    "updatedAt",
    "type",
];

#[rustfmt::skip]
pub(super) const VERBS: &[&str] = &[
    "Create", "Delete", "Describe", "Get", "List", "Update", "Put", "Start", "Stop", "Tag", "Untag", "Search",
    "Batch", "Import", "Export", "Attach", "Detach", "Enable", "Disable", "Validate",
];

#[rustfmt::skip]
pub(super) const FILLER: &[&str] = &[
    "a", "the", "of", "and", "to", "in", "for", "that", "is", "with", "when", "you", "can", "this", "from",
    "each", "one", "after", "before", "only", "which", "not", "must", "be", "are", "has", "its", "by", "or",
    "if", "until", "while", "then", "every", "between", "up", "at", "on", "an", "it",
];

#[rustfmt::skip]
pub(super) const ACTIONS: &[&str] = &[
    "add", "arrange", "carry", "change", "check", "choose", "close", "collect", "compare", "copy", "count",
    "deliver", "describe", "divide", "empty", "fill", "find", "follow", "hold", "join", "keep", "leave", "lift",
    "load", "mark", "measure", "merge", "move", "name", "number", "open", "pack", "place", "print", "read",
    "release", "remove", "repair", "replace", "return", "send", "set", "sort", "split", "start", "stop",
    "store", "swap", "take", "use", "wait", "write",
];
