//! Sets `cfg(agent)` if `dwell-heap` has an agent for the target, so that programs can be run and looked at.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(agent)");
    if std::env::var_os("DEP_DWELL_AGENT_AGENT").is_some() {
        println!("cargo::rustc-cfg=agent");
    }
}
