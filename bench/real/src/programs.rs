//! The programs that are measured. Drivers and edit scripts are files in `programs/`, read when they are used.

use crate::program::{Input, Package, Program};

pub(crate) const ALL: &[Program] = &[LRU, OXC, H2, DELAY_QUEUE, POM, OPENAPIV3];

const LRU: Program = Program {
    name: "lru",
    change: "slab for Box",
    packages: &[Package {
        name: "lru",
        version: "0.18.0",
        edits: "lru/after.edits",
        tests: Some(&["--lib"]),
    }],
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
        Package {
            name: "oxc_allocator",
            version: "0.60.0",
            edits: "oxc/allocator.edits",
            tests: Some(&["--lib"]),
        },
    ],
    dependencies: "oxc_parser = \"=0.60.0\"\noxc_allocator = \"=0.60.0\"\noxc_span = \"=0.60.0\"",
    input: Some(Input { package: "deno_typescript", version: "0.49.0", path: "typescript/lib/typescript.js" }),
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
        // The other test files do not reach its slab.
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
    change: "SmallBox for Box<dyn Fn>",
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
    change: "Sparse, SortedMap and Box where `weigh` suggests them",
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
