//! The memory that a program may use: the limits of its control groups, and the machine's memory.

use crate::arch;
use std::fs;
use std::path::{Path, PathBuf};

/// The share of the last ten seconds in which all tasks waited for memory, in percent, from which on memory is short.
const PRESSED: f64 = 10.0;

/// Where the limits of a process are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Limits {
    /// The folders of its control group and of those around it.
    groups: Vec<Group>,
    proc: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    folder: PathBuf,
    /// Whether it is of the second version of control groups.
    is_second: bool,
}

/// The memory in use, and the limit at which the kernel kills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) used: u64,
    pub(super) limit: u64,
    /// Whether the limit is that of a control group.
    pub(super) is_of_group: bool,
    /// What is left until a limit, also one at which the kernel only slows the program down.
    pub(super) left: u64,
}

/// The numbers of processes that the OOM killer has killed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kills {
    of_group: u64,
    of_machine: u64,
}

impl Limits {
    /// Finds the control groups of a process. `root` has `proc` and the mounted file systems; it is `/` except in tests.
    pub(super) fn new(root: &Path, pid: i32) -> Self {
        let proc = root.join("proc");
        let text = |name: &str| fs::read_to_string(proc.join(pid.to_string()).join(name)).unwrap_or_default();
        let (of_process, mounts) = (text("cgroup"), text("mountinfo"));
        let mut groups = Vec::new();
        for line in of_process.lines() {
            // `0::/a/b`, or `4:memory:/a/b`.
            let mut words = line.splitn(3, ':');
            let (_, controllers, path) = (words.next(), words.next(), words.next());
            let (Some(controllers), Some(path)) = (controllers, path) else { continue };
            let is_second = controllers.is_empty();
            if !is_second && !controllers.split(',').any(|controller| controller == "memory") {
                continue;
            }
            for (mounted, at) in mounts.lines().filter_map(|line| mount(line, is_second)) {
                // A container may see only a part of the tree.
                let Ok(below) = Path::new(path).strip_prefix(mounted) else { continue };
                let top = root.join(at.trim_start_matches('/'));
                let folder = top.join(below);
                let around = folder.ancestors().take_while(|folder| folder.starts_with(&top));
                groups.extend(around.map(|folder| Group { folder: folder.to_owned(), is_second }));
                break;
            }
        }
        // Where both versions are mounted, one of them limits memory.
        groups.sort_by_key(|group| !group.folder.join(group.counter()).exists());
        Self { groups, proc }
    }

    /// Returns the limit that is closest; `None` if none is known.
    pub(super) fn room(&self) -> Option<Room> {
        let of_groups = self.groups.iter().filter_map(Group::room);
        let mut room = of_groups.chain(self.machine()).min_by_key(|room| room.left)?;
        if self.is_pressed() {
            room.left = 0;
        }
        Some(room)
    }

    fn machine(&self) -> Option<Room> {
        let text = fs::read_to_string(self.proc.join("meminfo")).ok()?;
        let bytes = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib << 10)
        };
        let (limit, left) = (bytes("MemTotal:")?, bytes("MemAvailable:")?);
        Some(Room { used: limit.saturating_sub(left), limit, is_of_group: false, left })
    }

    /// Returns `true` if tasks wait for memory, so that a killer outside of the kernel may act.
    fn is_pressed(&self) -> bool {
        let text = fs::read_to_string(self.proc.join("pressure/memory")).unwrap_or_default();
        let full = text.lines().find_map(|line| line.strip_prefix("full avg10="));
        let share = full.and_then(|line| line.split(' ').next()?.parse::<f64>().ok());
        share.is_some_and(|share| share >= PRESSED)
    }

    /// Returns how many processes of the group and of the machine the OOM killer has killed.
    pub(super) fn kills(&self) -> Kills {
        let counter = |path: PathBuf| {
            let text = fs::read_to_string(path).unwrap_or_default();
            text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok()).unwrap_or(0)
        };
        let of_group = self.groups.first().map(|group| counter(group.folder.join(group.counter())));
        Kills { of_group: of_group.unwrap_or(0), of_machine: counter(self.proc.join("vmstat")) }
    }

    /// Returns the most memory that the group of a limit has used, or else what was used last.
    pub(super) fn most(&self, last: Room) -> u64 {
        let is_it = |group: &&Group| group.room().is_some_and(|room| room.limit == last.limit);
        let most = self.groups.iter().filter(is_it).filter_map(|group| {
            group.number(if group.is_second { "memory.peak" } else { "memory.max_usage_in_bytes" })
        });
        most.max().filter(|_| last.is_of_group).map_or(last.used, |most| most.min(last.limit).max(last.used))
    }
}

impl Kills {
    /// Returns `true` if the OOM killer has killed a process since `before`.
    pub(super) fn since(self, before: Self) -> bool {
        self.of_group > before.of_group || self.of_machine > before.of_machine
    }
}

impl Group {
    /// Returns the file that counts kills.
    const fn counter(&self) -> &'static str {
        if self.is_second { "memory.events" } else { "memory.oom_control" }
    }

    /// Returns the number in a file; `None` if there is none, as for `max`.
    fn number(&self, file: &str) -> Option<u64> {
        // The first version has a number near 2^63 for no limit.
        fs::read_to_string(self.folder.join(file)).ok()?.trim().parse().ok().filter(|number| *number < 1 << 62)
    }

    /// Returns the limit at which the kernel kills, and the one at which it only slows down.
    fn limits(&self) -> (Option<u64>, Option<u64>) {
        if self.is_second {
            (self.number("memory.max"), self.number("memory.high"))
        } else {
            (self.number("memory.limit_in_bytes"), None)
        }
    }

    fn room(&self) -> Option<Room> {
        let (most, high) = self.limits();
        let limit = most.or(high)?;
        let all = self.number(if self.is_second { "memory.current" } else { "memory.usage_in_bytes" })?;
        // The kernel drops pages of files before it kills.
        let stat = fs::read_to_string(self.folder.join("memory.stat")).unwrap_or_default();
        let names = if self.is_second {
            ["active_file ", "inactive_file "]
        } else {
            ["total_active_file ", "total_inactive_file "]
        };
        let value =
            |name: &str| stat.lines().find_map(|line| line.strip_prefix(name)?.parse::<u64>().ok()).unwrap_or(0);
        let used = all.saturating_sub(names.into_iter().map(value).sum());
        let left = limit.min(high.unwrap_or(limit)).saturating_sub(used);
        Some(Room { used, limit, is_of_group: true, left })
    }
}

/// Parses a line of `mountinfo`. Returns which part of the groups is mounted, and where.
fn mount(line: &str, is_second: bool) -> Option<(&str, &str)> {
    // `36 35 98:0 /part /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw`
    let (mount, superblock) = line.split_once(" - ")?;
    let mut words = mount.split(' ').skip(3);
    let (part, at) = (words.next()?, words.next()?);
    let mut fields = superblock.split(' ');
    let (kind, options) = (fields.next()?, fields.nth(1)?);
    let fits = if is_second {
        kind == "cgroup2"
    } else {
        kind == "cgroup" && options.split(',').any(|option| option == "memory")
    };
    fits.then_some((part, at))
}

/// Reads the mappings of a process with their resident bytes. A process that has ended has none.
pub(super) fn smaps(pid: i32) -> Option<String> {
    fs::read_to_string(format!("/proc/{pid}/smaps")).ok().filter(|text| !text.is_empty())
}

/// Returns the resident bytes of a process.
pub(super) fn resident(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    text.split(' ').nth(1)?.parse::<u64>().ok().map(|pages| pages * arch::page())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn tree(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("dwell-limits-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    const MEMINFO: (&str, &str) = ("proc/meminfo", "MemTotal:  4194304 kB\nMemFree: 1 kB\nMemAvailable:  1048576 kB\n");

    #[test]
    fn the_smallest_of_nested_groups_counts() {
        let machine = tree(
            "second",
            &[
                MEMINFO,
                ("proc/7/cgroup", "0::/pod/app/inner\n"),
                ("proc/7/mountinfo", "30 20 0:26 /pod /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"),
                ("proc/vmstat", "nr_free_pages 7\noom_kill 3\n"),
                ("sys/fs/cgroup/app/memory.max", "104857600\n"),
                ("sys/fs/cgroup/app/memory.current", "62914560\n"),
                ("sys/fs/cgroup/app/memory.stat", "anon 41943040\nactive_file 10485760\ninactive_file 10485760\n"),
                ("sys/fs/cgroup/app/memory.peak", "99999744\n"),
                ("sys/fs/cgroup/app/inner/memory.max", "max\n"),
                ("sys/fs/cgroup/app/inner/memory.high", "83886080\n"),
                ("sys/fs/cgroup/app/inner/memory.current", "41943040\n"),
                (
                    "sys/fs/cgroup/app/inner/memory.events",
                    "low 0\nhigh 9\nmax 4\noom 2\noom_kill 1\noom_group_kill 0\n",
                ),
            ],
        );
        let limits = Limits::new(&machine, 7);
        assert_eq!(limits.groups.len(), 3);
        // 80 MiB at which it is slowed down, 40 MiB in use; above it 100, and 40 without files.
        let room = limits.room().unwrap();
        assert_eq!(room, Room { used: 40 * MIB, limit: 80 * MIB, is_of_group: true, left: 40 * MIB });
        let killed = limits.kills();
        assert_eq!(killed, Kills { of_group: 1, of_machine: 3 });
        fs::write(machine.join("sys/fs/cgroup/app/inner/memory.events"), "oom_kill 2\n").unwrap();
        assert!(limits.kills().since(killed) && !killed.since(limits.kills()));
        fs::write(machine.join("sys/fs/cgroup/app/memory.max"), "73400320\n").unwrap();
        let room = limits.room().unwrap();
        assert_eq!((room.limit, room.left, limits.most(room)), (70 * MIB, 30 * MIB, 70 * MIB));
        fs::create_dir_all(machine.join("proc/pressure")).unwrap();
        fs::write(machine.join("proc/pressure/memory"), "some avg10=9.00 avg60=1\nfull avg10=12.50 avg60=1\n").unwrap();
        assert_eq!(limits.room().unwrap().left, 0);
        fs::remove_dir_all(machine).unwrap();
    }

    #[test]
    fn groups_of_the_first_version_and_the_machine_are_read() {
        let machine = tree(
            "first",
            &[
                MEMINFO,
                ("proc/7/cgroup", "5:cpu,cpuacct:/a\n0::/\n4:memory:/a/b\n"),
                (
                    "proc/7/mountinfo",
                    "41 32 0:37 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                     43 32 0:39 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
                     42 32 0:38 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
                ),
                ("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n"),
                ("sys/fs/cgroup/memory/a/b/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n"),
                ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "314572800\n"),
                ("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "104857600\n"),
                ("sys/fs/cgroup/memory/a/memory.stat", "active_file 1\ntotal_active_file 52428800\n"),
                ("sys/fs/cgroup/memory/a/memory.max_usage_in_bytes", "209715200\n"),
            ],
        );
        let limits = Limits::new(&machine, 7);
        let room = limits.room().unwrap();
        assert_eq!(room, Room { used: 50 * MIB, limit: 300 * MIB, is_of_group: true, left: 250 * MIB });
        assert_eq!((limits.kills().of_group, limits.most(room)), (5, 200 * MIB));
        fs::remove_dir_all(machine.join("sys")).unwrap();
        let room = limits.room().unwrap();
        assert_eq!(room, Room { used: 3 << 30, limit: 4 << 30, is_of_group: false, left: 1 << 30 });
        fs::remove_dir_all(machine.join("proc")).unwrap();
        assert_eq!((limits.room(), limits.kills()), (None, Kills::default()));
        assert_eq!(Limits::new(&machine, 7).groups, []);
        fs::remove_dir_all(machine).unwrap();
    }
}
