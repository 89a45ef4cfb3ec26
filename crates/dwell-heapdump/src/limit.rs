//! The limits of memory that this process is under: of its control groups, and of the machine.

#![forbid(unsafe_code)]

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// The limits, with the files that tell how much is used.
#[derive(Debug)]
pub(crate) struct Limits(Vec<Limit>);

#[derive(Debug)]
struct Limit {
    most: u64,
    usage: Usage,
}

#[derive(Debug)]
enum Usage {
    /// The file with the bytes, the one with their kinds, and the kind of file pages that are given back first.
    Group(File, Option<File>, &'static str),
    /// `/proc/meminfo`.
    Machine(File),
}

/// Used bytes and the most bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) used: u64,
    pub(crate) most: u64,
}

impl Used {
    /// Returns `true` if at least this share is used.
    pub(crate) fn is_above(&self, share: f64) -> bool {
        self.used as f64 >= self.most as f64 * share
    }
}

impl Limits {
    pub(crate) fn find() -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let groups = folders(&text("/proc/self/cgroup"), &text("/proc/self/mountinfo"));
        let mut limits: Vec<Limit> = groups.iter().filter_map(Group::limit).collect();
        limits.extend(machine(Path::new("/proc/meminfo")));
        Self(limits)
    }

    pub(crate) fn are_known(&self) -> bool {
        !self.0.is_empty()
    }

    /// Returns the limit of which the largest share is used.
    pub(crate) fn closest(&self) -> Option<Used> {
        let share = |limit: &Used| limit.used as f64 / limit.most as f64;
        self.0.iter().filter_map(Limit::used).max_by(|left, right| share(left).total_cmp(&share(right)))
    }

    /// Returns `true` if so little memory is left that the child that writes a dump is ended.
    pub(crate) fn are_close(&self) -> bool {
        const SHARE: f64 = 0.985;
        self.closest().is_some_and(|limit| limit.is_above(SHARE))
    }
}

impl Limit {
    fn used(&self) -> Option<Used> {
        let used = match &self.usage {
            Usage::Group(usage, kinds, name) => {
                let cached = kinds.as_ref().and_then(|kinds| value(&contents(kinds)?, name)).unwrap_or(0);
                contents(usage)?.trim().parse::<u64>().ok()?.saturating_sub(cached)
            }
            Usage::Machine(file) => self.most.saturating_sub(value(&contents(file)?, "MemAvailable:")? << 10),
        };
        Some(Used { used, most: self.most })
    }
}

fn machine(path: &Path) -> Option<Limit> {
    let file = File::open(path).ok()?;
    let most = value(&contents(&file)?, "MemTotal:").filter(|total| *total > 0)? << 10;
    Some(Limit { most, usage: Usage::Machine(file) })
}

/// Returns the contents of a short file, without a change of its position.
fn contents(file: &File) -> Option<String> {
    let mut bytes = vec![0; 8192];
    let read = file.read_at(&mut bytes, 0).ok()?;
    bytes.truncate(read);
    String::from_utf8(bytes).ok()
}

/// Returns the number behind a name at the start of a line.
fn value(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        (words.next() == Some(name)).then(|| words.next()?.parse().ok())?
    })
}

/// A folder of a control group.
#[derive(Debug, PartialEq, Eq)]
struct Group {
    folder: PathBuf,
    /// Whether it is one of the second version.
    is_unified: bool,
}

impl Group {
    fn limit(&self) -> Option<Limit> {
        let [most, usage, name] = if self.is_unified {
            ["memory.max", "memory.current", "inactive_file"]
        } else {
            ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"]
        };
        // A number without a limit is written as `max`, or as nearly all bits.
        const NO_LIMIT: u64 = 1 << 60;
        let most = fs::read_to_string(self.folder.join(most)).ok()?.trim().parse().ok()?;
        if most == 0 || most >= NO_LIMIT {
            return None;
        }
        let usage = File::open(self.folder.join(usage)).ok()?;
        Some(Limit { most, usage: Usage::Group(usage, File::open(self.folder.join("memory.stat")).ok(), name) })
    }
}

/// Returns the folders of the control groups of this process that may limit memory, from the inner ones to the root.
fn folders(groups: &str, mounts: &str) -> Vec<Group> {
    let mut found = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(number), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let is_unified = number == "0" && controllers.is_empty();
        if !is_unified && !controllers.split(',').any(|controller| controller == "memory") {
            continue;
        }
        for (root, mount) in mounts.lines().filter_map(|line| mount(line, is_unified)) {
            // The root of a mount in a container may be a group that the process sees under another name.
            let below = Path::new(path).strip_prefix(root).unwrap_or(Path::new(""));
            let folder = Path::new(mount).join(below);
            let inside = folder.ancestors().take_while(|folder| folder.starts_with(mount));
            found.extend(inside.map(|folder| Group { folder: folder.to_owned(), is_unified }));
        }
    }
    found
}

/// Returns the root and the place of a mount of control groups: `30 24 0:26 /root /place rw - cgroup2 cgroup2 rw`.
fn mount(line: &str, is_unified: bool) -> Option<(&str, &str)> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(3);
    let (root, place) = (left.next()?, left.next()?);
    let mut right = right.split(' ');
    let kind = right.next()?;
    let is_wanted = if is_unified {
        kind == "cgroup2"
    } else {
        kind == "cgroup" && right.nth(1)?.split(',').any(|option| option == "memory")
    };
    is_wanted.then_some((root, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "24 1 0:5 / /proc rw - proc proc rw\n\
                          30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n\
                          31 24 0:27 /docker/1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n\
                          32 24 0:28 / /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n";

    #[test]
    fn groups_are_found_up_to_the_mount() {
        let group = |folder: &str, is_unified| Group { folder: folder.into(), is_unified };
        assert_eq!(
            folders("0::/a/b\n", MOUNTS),
            [group("/sys/fs/cgroup/a/b", true), group("/sys/fs/cgroup/a", true), group("/sys/fs/cgroup", true)]
        );
        let first = folders("4:cpu,cpuacct:/x\n3:memory:/docker/1/in\n", MOUNTS);
        assert_eq!(first, [group("/sys/fs/cgroup/memory/in", false), group("/sys/fs/cgroup/memory", false)]);
        // In a container with the groups of the machine's root.
        assert_eq!(folders("3:memory:/other\n", MOUNTS), [group("/sys/fs/cgroup/memory", false)]);
        assert_eq!(folders("garbage\n:\n", "garbage\n"), []);
    }

    #[test]
    #[cfg_attr(miri, ignore = "reads files")]
    fn pages_that_are_given_back_first_are_not_used() {
        let folder = std::env::temp_dir().join(format!("dwell-heapdump-limit-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        write("memory.max", "1000000\n");
        write("memory.current", "900000\n");
        write("memory.stat", "anon 100\ninactive_file 300000\nactive_file 5\n");
        let group = Group { folder: folder.clone(), is_unified: true };
        let limit = group.limit().unwrap();
        assert_eq!(limit.used(), Some(Used { used: 600_000, most: 1_000_000 }));
        write("memory.current", "1290000\n");
        let limits = Limits(vec![limit]);
        assert!(limits.are_close() && limits.closest().unwrap().is_above(0.9));
        write("memory.max", "max\n");
        assert!(group.limit().is_none());
        write("memory.limit_in_bytes", "9223372036854771712\n");
        assert!(Group { folder: folder.clone(), is_unified: false }.limit().is_none());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    #[cfg_attr(miri, ignore = "reads /proc")]
    fn the_machine_has_a_limit() {
        let used = machine(Path::new("/proc/meminfo")).unwrap().used().unwrap();
        assert!(used.used > 0 && used.used < used.most);
    }
}
