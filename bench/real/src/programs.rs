//! The programs that are measured. Drivers and edit scripts are files in `programs/`, read when they are used.

use crate::program::{Input, Package, Program};

pub(crate) const ALL: &[Program] = &[
    LRU,
    OXC,
    H2,
    DELAY_QUEUE,
    POM,
    OPENAPIV3,
    ASYNC_TRAIT,
    WAST,
    SONIC_RS,
    ASYNC_EXECUTOR,
    ASYNC_IO,
    ASYNC_GRAPHQL,
    JAQ,
    SPECS,
    HITBOX,
    RUSTDOC_TYPES,
    ROWAN,
    RAYON_CORE,
    THREADPOOL,
    RPDS,
    SQLPARSER,
    ACTIX,
];

/// Returns the program with this name.
pub(crate) fn find(name: &str) -> Option<&'static Program> {
    ALL.iter().find(|program| program.name == name)
}

const LRU: Program = Program {
    name: "lru",
    change: "`Pooled` for `Box`",
    packages: &[Package { name: "lru", version: "0.18.0", edits: "lru/after.edits", tests: Some(&["--lib"]) }],
    dependencies: "lru = \"=0.18.0\"",
    driver: "lru/driver.rs",
    workloads: &["10 entries", "churn", "a million"],
    ..Program::NONE
};

const OXC: Program = Program {
    name: "oxc",
    change: "dwell-bumpalo for bumpalo",
    packages: &[
        Package { name: "oxc_parser", version: "0.60.0", edits: "", tests: None },
        Package { name: "oxc_allocator", version: "0.60.0", edits: "oxc/allocator.edits", tests: Some(&["--lib"]) },
    ],
    dependencies: "oxc_parser = \"=0.60.0\"\noxc_allocator = \"=0.60.0\"\noxc_span = \"=0.60.0\"",
    input: Some(Input::Shipped { package: "deno_typescript", version: "0.49.0", path: "typescript/lib/typescript.js" }),
    driver: "oxc/driver.rs",
    workloads: &["typescript.js", "typescript.js, reset"],
    ..Program::NONE
};

const H2: Program = Program {
    name: "h2",
    change: "dwell-slab for slab",
    packages: &[Package { name: "h2", version: "0.4.20", edits: "h2/slab.edits", tests: None }],
    dependencies: "h2 = \"=0.4.20\"\nhttp = \"1\"\nbytes = \"1\"\n\
        tokio = { version = \"1.47\", features = [\"rt\", \"io-util\"] }",
    driver: "h2/driver.rs",
    workloads: &["5,000 requests at once", "50 connections"],
    ..Program::NONE
};

const DELAY_QUEUE: Program = Program {
    name: "delay-queue",
    change: "dwell-slab for slab",
    packages: &[Package {
        name: "tokio-util",
        version: "0.7.20",
        edits: "delay-queue/slab.edits",
        // The other test files do not use its slab.
        tests: Some(&["--features", "full", "--test", "time_delay_queue"]),
    }],
    dependencies: "tokio-util = { version = \"=0.7.20\", features = [\"time\"] }\n\
        tokio = { version = \"1.47\", features = [\"rt\", \"time\", \"test-util\"] }",
    driver: "delay-queue/driver.rs",
    workloads: &["10 timeouts", "20,000 timeouts", "insert, remove"],
    ..Program::NONE
};

const POM: Program = Program {
    name: "pom",
    change: "`pooled!` for `Box<dyn Fn>`",
    packages: &[Package {
        name: "pom",
        version: "3.4.0",
        edits: "pom/after.edits",
        tests: Some(&["--lib", "--tests", "--examples"]),
    }],
    dependencies: "pom = \"=3.4.0\"",
    driver: "pom/driver.rs",
    workloads: &["parse data.json"],
    ..Program::NONE
};

const OPENAPIV3: Program = Program {
    name: "openapiv3",
    change: "`Sparse`, `SortedMap`, boxes",
    packages: &[Package {
        name: "openapiv3",
        version: "2.2.0",
        edits: "openapiv3/after.edits",
        tests: Some(&["--lib", "--tests"]),
    }],
    dependencies: "openapiv3 = \"=2.2.0\"\nserde_json = \"1\"",
    driver: "openapiv3/driver.rs",
    workloads: &["load four services"],
    ..Program::NONE
};

const ASYNC_TRAIT: Program = Program {
    name: "async-trait",
    change: "`#[dwell::erased]` for `#[async_trait]`",
    packages: &[Package {
        name: "async-trait",
        version: "0.1.92",
        edits: "async-trait/after.edits",
        // `compiletest` compares the compiler's messages, which name the attribute.
        tests: Some(&["--test", "test"]),
    }],
    dependencies: "async-trait = \"=0.1.92\"",
    more_after: "dwell = { path = \"{dwell}/crates/dwell\", default-features = false, features = [\"std\", \"pin\", \"derive\"] }",
    driver: "async-trait/driver.rs",
    driver_after: "async-trait/driver.edits",
    workloads: &["20,000 requests"],
    ..Program::NONE
};

const WAST: Program = Program {
    name: "wast",
    change: "dwell-bumpalo for bumpalo",
    packages: &[Package {
        name: "wast",
        version: "263.0.0",
        edits: "wast/bumpalo.edits",
        // Its other tests need crates that its manifest lacks.
        tests: Some(&["--lib", "--test", "comments"]),
    }],
    dependencies: "wast = \"=263.0.0\"",
    driver: "wast/driver.rs",
    workloads: &["2,000 functions"],
    ..Program::NONE
};

const SONIC_RS: Program = Program {
    name: "sonic-rs",
    change: "dwell-bumpalo for bumpalo",
    packages: &[Package {
        name: "sonic-rs",
        version: "0.5.10",
        edits: "sonic-rs/bumpalo.edits",
        // Its tests need an unpublished crate of its repository.
        tests: None,
    }],
    dependencies: "sonic-rs = \"=0.5.10\"",
    input: Some(Input::Shipped { package: "openapiv3", version: "2.2.0", path: "fixtures/slack.json" }),
    driver: "sonic-rs/driver.rs",
    workloads: &["slack.json"],
    ..Program::NONE
};

const ASYNC_EXECUTOR: Program = Program {
    name: "async-executor",
    change: "dwell-slab for slab",
    packages: &[Package {
        name: "async-executor",
        version: "1.14.1",
        edits: "async-executor/slab.edits",
        tests: Some(&["--lib", "--tests"]),
    }],
    dependencies: "async-executor = \"=1.14.1\"",
    driver: "async-executor/driver.rs",
    workloads: &["one task at a time", "5,000 tasks"],
    ..Program::NONE
};

const ASYNC_IO: Program = Program {
    name: "async-io",
    change: "dwell-slab for slab",
    packages: &[Package {
        name: "async-io",
        version: "2.6.0",
        edits: "async-io/slab.edits",
        tests: Some(&["--lib", "--tests"]),
    }],
    dependencies: "async-io = \"=2.6.0\"",
    driver: "async-io/driver.rs",
    workloads: &["250 pairs of sockets"],
    ..Program::NONE
};

const ASYNC_GRAPHQL: Program = Program {
    name: "async-graphql",
    change: "`.pooled()` for `Box::pin`",
    packages: &[Package {
        name: "async-graphql",
        version: "8.0.0-rc.5",
        edits: "async-graphql/after.edits",
        // Each of its 50 test files is a separate program; these use the changed code.
        tests: Some(&[
            "--test",
            "list",
            "--test",
            "object",
            "--test",
            "union",
            "--test",
            "interface",
            "--test",
            "result",
        ]),
    }],
    dependencies: "async-graphql = { version = \"=8.0.0-rc.5\", default-features = false }",
    driver: "async-graphql/driver.rs",
    workloads: &["a query of 6,000 fields"],
    ..Program::NONE
};

const JAQ: Program = Program {
    name: "jaq",
    change: "`pooled!` for `Box<dyn Iterator>`",
    packages: &[
        Package { name: "jaq-core", version: "3.1.2", edits: "jaq/core.edits", tests: None },
        Package { name: "jaq-std", version: "3.0.4", edits: "jaq/std.edits", tests: None },
        Package {
            name: "jaq-json",
            version: "2.0.3",
            edits: "jaq/json.edits",
            // Its tests use functions that the default features of jaq-std add.
            tests: Some(&["--features", "serde,jaq-std/default", "--lib", "--tests"]),
        },
    ],
    dependencies: "jaq-core = \"=3.1.2\"\njaq-std = \"=3.0.4\"\njaq-json = \"=2.0.3\"",
    driver: "jaq/driver.rs",
    workloads: &["numbers", "recursion", "a tree"],
    ..Program::NONE
};

const SPECS: Program = Program {
    name: "specs",
    change: "`SmallBox` for `Box<dyn FnOnce>`",
    packages: &[Package {
        name: "specs",
        version: "0.20.0",
        edits: "specs/after.edits",
        tests: Some(&["--lib", "--features", "parallel"]),
    }],
    dependencies: "specs = { version = \"=0.20.0\", default-features = false }",
    driver: "specs/driver.rs",
    workloads: &["20 frames of particles"],
    ..Program::NONE
};

const HITBOX: Program = Program {
    name: "hitbox",
    change: "dwell's `SmallBox` for smallbox",
    packages: &[
        Package {
            name: "hitbox-backend",
            version: "0.2.2",
            edits: "hitbox/backend.edits",
            tests: Some(&["--lib", "--tests"]),
        },
        Package {
            name: "hitbox-core",
            version: "0.2.2",
            edits: "hitbox/core.edits",
            tests: Some(&["--lib", "--tests"]),
        },
    ],
    dependencies: "hitbox-backend = \"=0.2.2\"\nhitbox-core = \"=0.2.2\"\nasync-trait = \"0.1\"\n\
        serde = { version = \"1\", features = [\"derive\"] }\ntokio = { version = \"1.47\", features = [\"rt\"] }",
    driver: "hitbox/driver.rs",
    workloads: &["2,000 requests"],
    ..Program::NONE
};

const RUSTDOC_TYPES: Program = Program {
    name: "rustdoc-types",
    change: "`ThinStr`, `ThinSlice`, `SortedMap`, boxes",
    packages: &[Package {
        name: "rustdoc-types",
        // The version of the format that rustdoc of Rust 1.95 writes.
        version: "0.57.4",
        edits: "rustdoc-types/after.edits",
        tests: Some(&["--lib"]),
    }],
    dependencies: "rustdoc-types = \"=0.57.4\"\nserde_json = \"1\"",
    input: Some(Input::RustdocJson {
        package: "syn",
        version: "2.0.106",
        features: &["full", "visit", "visit-mut"],
        format: 57,
    }),
    driver: "rustdoc-types/driver.rs",
    workloads: &["load syn"],
    ..Program::NONE
};

const ROWAN: Program = Program {
    name: "rowan",
    change: "`slab!` for `Box`",
    packages: &[Package { name: "rowan", version: "0.17.0", edits: "rowan/after.edits", tests: Some(&["--lib"]) }],
    dependencies: "rowan = \"=0.17.0\"",
    driver: "rowan/driver.rs",
    workloads: &["token at an offset", "walk"],
    ..Program::NONE
};

const RAYON_CORE: Program = Program {
    name: "rayon-core",
    change: "`Pooled` for `Box`",
    packages: &[Package {
        name: "rayon-core",
        version: "1.13.0",
        edits: "rayon-core/after.edits",
        tests: Some(&["--lib", "--tests"]),
    }],
    dependencies: "rayon-core = \"=1.13.0\"",
    driver: "rayon-core/driver.rs",
    workloads: &["scope, one thread"],
    ..Program::NONE
};

const ACTIX: Program = Program {
    name: "actix",
    change: "`pooled!` for `Box<dyn EnvelopeProxy>`",
    packages: &[Package { name: "actix", version: "0.13.5", edits: "actix/after.edits", tests: Some(&["--lib"]) }],
    dependencies: "actix = \"=0.13.5\"",
    driver: "actix/driver.rs",
    workloads: &["20,000 messages", "5,000 in turn"],
    ..Program::NONE
};

const THREADPOOL: Program = Program {
    name: "threadpool",
    change: "`pooled!` for `Box<dyn FnOnce>`",
    packages: &[Package {
        name: "threadpool",
        version: "1.8.1",
        edits: "threadpool/after.edits",
        tests: Some(&["--lib"]),
    }],
    dependencies: "threadpool = \"=1.8.1\"",
    driver: "threadpool/driver.rs",
    workloads: &["jobs of 2 words", "jobs of 9 words"],
    ..Program::NONE
};

const RPDS: Program = Program {
    name: "rpds",
    change: "`PoolRc` for `Rc`",
    packages: &[
        Package { name: "rpds", version: "1.2.1", edits: "", tests: Some(&["--lib"]) },
        Package { name: "archery", version: "1.2.3", edits: "rpds/archery.edits", tests: Some(&["--lib"]) },
    ],
    dependencies: "rpds = \"=1.2.1\"\narchery = \"=1.2.3\"",
    driver: "rpds/driver.rs",
    workloads: &["history", "build a map"],
    ..Program::NONE
};

const SQLPARSER: Program = Program {
    name: "sqlparser",
    change: "`Pooled` for `Box`",
    packages: &[Package {
        name: "sqlparser",
        version: "0.64.0",
        edits: "sqlparser/after.edits",
        tests: Some(&["--lib"]),
    }],
    dependencies: "sqlparser = \"=0.64.0\"",
    driver: "sqlparser/driver.rs",
    workloads: &["parse", "clone"],
    ..Program::NONE
};
