// Included by the modules `before` and `after`, which define `Text`, `List` and the other aliases.

use dwell::{Sparse as DeriveSparse, Weigh};
use serde::Deserialize;

#[derive(Deserialize, Weigh)]
pub(crate) struct Model {
    #[allow(dead_code)]
    pub(crate) smithy: Text,
    #[serde(default)]
    pub(crate) shapes: Map<Shape>,
}

#[derive(Deserialize, Weigh)]
#[serde(tag = "type", rename_all = "camelCase")]
#[allow(clippy::large_enum_variant)]
pub(crate) enum Shape {
    Structure {
        #[serde(default)]
        members: Map<Member>,
        #[serde(default)]
        traits: Always<Traits>,
    },
    Union {
        #[serde(default)]
        members: Map<Member>,
        #[serde(default)]
        traits: Always<Traits>,
    },
    Enum {
        #[serde(default)]
        members: Map<Member>,
        #[serde(default)]
        traits: Always<Traits>,
    },
    IntEnum {
        #[serde(default)]
        members: Map<Member>,
        #[serde(default)]
        traits: Always<Traits>,
    },
    List {
        member: Member,
        #[serde(default)]
        traits: Always<Traits>,
    },
    Set {
        member: Member,
        #[serde(default)]
        traits: Always<Traits>,
    },
    Map {
        key: Member,
        value: Member,
        #[serde(default)]
        traits: Always<Traits>,
    },
    Operation {
        input: Option<Reference>,
        output: Option<Reference>,
        #[serde(default)]
        errors: List<Reference>,
        #[serde(default)]
        traits: Always<Traits>,
    },
    Service(Large<Service>),
    Resource(Large<Resource>),
    String {
        #[serde(default)]
        traits: Always<Traits>,
    },
    Boolean {
        #[serde(default)]
        traits: Always<Traits>,
    },
    Byte {
        #[serde(default)]
        traits: Always<Traits>,
    },
    Short {
        #[serde(default)]
        traits: Always<Traits>,
    },
    Integer {
        #[serde(default)]
        traits: Always<Traits>,
    },
    Long {
        #[serde(default)]
        traits: Always<Traits>,
    },
    Float {
        #[serde(default)]
        traits: Always<Traits>,
    },
    Double {
        #[serde(default)]
        traits: Always<Traits>,
    },
    BigInteger {
        #[serde(default)]
        traits: Always<Traits>,
    },
    BigDecimal {
        #[serde(default)]
        traits: Always<Traits>,
    },
    Blob {
        #[serde(default)]
        traits: Always<Traits>,
    },
    Timestamp {
        #[serde(default)]
        traits: Always<Traits>,
    },
    Document {
        #[serde(default)]
        traits: Always<Traits>,
    },
}
