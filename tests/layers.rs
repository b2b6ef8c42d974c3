//! The house's structure, held as tests: which crate may use which, what a pure crate may depend on, what `report`
//! may know of the machine, and that clippy's rules for pure crates are in place.
//!
//! The rules are data below; the checkers are functions over a small graph, so that each is also shown a planted
//! fault and must find it. (ARCHITECTURE.md says why each rule is there.)

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// What a crate may use: the workspace's own crates that stand below it, and others by name.
struct Rule {
    package: &'static str,
    below: &'static [&'static str],
    /// The only foreign crates of a pure crate; `None` for a shell, which may use any.
    foreign: Option<&'static [&'static str]>,
}

const UNITS: &str = "tierscope-units";
const ENGINE: &str = "tierscope-engine";
const SCENARIO: &str = "tierscope-scenario";
const REPORT: &str = "tierscope-report";
const SIM: &str = "tierscope-sim";
const SWEEP: &str = "tierscope-sweep";
const COLUMNS: &str = "tierscope-columns";
const TIERS: &str = "tierscope-tiers";
const STAND_IN: &str = "tierscope-standin-cuda";
const PAGE: &str = "tierscope-page";
const WORKER: &str = "tierscope-worker";

/// Ground, machine, contracts, driver, shells. (Media and the native driver have rooms here when they are built.)
const RULES: &[Rule] = &[
    Rule { package: UNITS, below: &[], foreign: Some(&["libm", "rand_chacha", "rand_core", "xxhash-rust"]) },
    // No serde: the machine's types are not the file format.
    Rule { package: ENGINE, below: &[UNITS], foreign: Some(&["libm"]) },
    Rule {
        package: SCENARIO,
        below: &[UNITS, ENGINE],
        foreign: Some(&[
            "base64",
            "flate2",
            "jsonc-parser",
            "libm",
            "miniz_oxide",
            "saphyr-parser",
            "serde",
            "serde_json",
            "strsim",
            "toml_edit",
            "xxhash-rust",
        ]),
    },
    Rule {
        package: REPORT,
        below: &[UNITS, ENGINE],
        foreign: Some(&["comfy-table", "libm", "serde", "serde_json"]),
    },
    Rule {
        package: SIM,
        below: &[UNITS, ENGINE, SCENARIO, REPORT],
        foreign: Some(&["libm", "serde", "serde_json"]),
    },
    Rule {
        package: SWEEP,
        below: &[UNITS, ENGINE, SCENARIO, REPORT, SIM],
        foreign: Some(&["comfy-table", "csv", "libm", "serde_json"]),
    },
    // Knows nothing of the house, so that it compiles beside it: its one dependency is the heaviest of all.
    Rule { package: COLUMNS, below: &[], foreign: Some(&["bytes", "parquet"]) },
    // Knows no engine: how a medium holds blocks does not depend on who decides where they go.
    Rule { package: TIERS, below: &[STAND_IN], foreign: None },
    // Put by tests in the place of a C library, and of nothing else: see `FOR_TESTS_ONLY`.
    Rule { package: STAND_IN, below: &[], foreign: Some(&[]) },
    // One loop and one order of simultaneous events for both worlds: real tiers only tell when copies end.
    Rule {
        package: "tierscope-driver",
        below: &[UNITS, ENGINE, SCENARIO, REPORT, SIM, TIERS],
        foreign: None,
    },
    Rule {
        package: "tierscope",
        below: &[UNITS, ENGINE, SCENARIO, REPORT, SIM, SWEEP, COLUMNS, TIERS, "tierscope-driver", STAND_IN],
        foreign: None,
    },
    // The page shows what the worker tells it, and of the worker it names only the protocol (tested below).
    Rule { package: PAGE, below: &[UNITS, SCENARIO, WORKER], foreign: None },
    Rule { package: WORKER, below: &[UNITS, ENGINE, SCENARIO, REPORT, SIM, SWEEP], foreign: None },
    Rule { package: "tierscope-tests", below: &[UNITS, ENGINE, SCENARIO, REPORT, SIM], foreign: None },
    // Builds with nothing but Rust, so that the first command on a new machine starts at once.
    Rule { package: "xtask", below: &[], foreign: Some(&[]) },
];

/// What tests of a pure crate may use besides.
const FOR_TESTS: &[&str] = &["expect-test", "proptest", "serde_json"];

/// Crates that are no part of the product.
const FOR_TESTS_ONLY: &[&str] = &[STAND_IN];

/// Crates of which a pure crate takes no default features, and why.
const NO_DEFAULTS: &[(&str, &str)] = &[
    ("flate2", "its defaults ask the processor"),
    ("comfy-table", "its defaults ask the terminal"),
    ("parquet", "its defaults bring Arrow and codecs that want a C compiler"),
    ("rand_core", "its defaults reach for entropy"),
    ("rand_chacha", "its defaults need std"),
];

/// A package and its direct dependencies.
#[derive(Default)]
struct Package {
    folder: PathBuf,
    uses: Vec<Use>,
}

struct Use {
    name: String,
    for_tests: bool,
    default_features: bool,
}

type Graph = BTreeMap<String, Package>;

#[test]
fn a_crate_uses_only_what_stands_below_it() {
    assert_none(wrong_uses(&workspace()));
}

#[test]
fn a_planted_wrong_use_is_found() {
    let plain = |name: &str| Use { name: name.into(), for_tests: false, default_features: true };
    let graph_of =
        |package: &str, uses| Graph::from([(package.to_owned(), Package { folder: PathBuf::new(), uses })]);
    let check = |package: &str, uses| wrong_uses(&graph_of(package, uses)).join("\n");

    assert!(
        check(REPORT, vec![plain(SIM)])
            .contains("tierscope-report uses tierscope-sim, which does not stand below")
    );
    assert!(check(ENGINE, vec![plain("serde")]).contains("tierscope-engine uses serde"));
    assert!(check(UNITS, vec![plain("tokio")]).contains("tierscope-units uses tokio"));
    assert!(check(REPORT, vec![plain("comfy-table")]).contains("its defaults ask the terminal"));
    assert!(check("tierscope-cloud", vec![]).contains("tierscope-cloud has no rule"));
    assert!(check(TIERS, vec![plain(STAND_IN)]).contains("for tests only"));
    let in_tests = vec![Use { name: "proptest".into(), for_tests: true, default_features: false }];
    assert_eq!(check(ENGINE, in_tests), "");
    let upward = vec![Use { name: SIM.into(), for_tests: true, default_features: true }];
    assert!(
        check(ENGINE, upward).contains("does not stand below"),
        "tests of a crate use no crate above it either"
    );
    assert_eq!(check(SIM, vec![plain(ENGINE), plain(REPORT), plain("serde_json")]), "");
}

#[test]
fn report_names_nothing_of_the_engine_but_its_facts() {
    let graph = workspace();
    let mut vocabulary = public_names(&read(&graph[ENGINE].folder.join("src/fact.rs")));
    assert!(vocabulary.contains("Fact") && vocabulary.contains("FactLog"), "fact.rs defines {vocabulary:?}");
    vocabulary.insert("fact".to_owned());
    vocabulary.extend(public_names(&read(&graph[ENGINE].folder.join("src/fact/fleet.rs"))));
    // The names that facts are told in.
    vocabulary.extend(public_names(&read(&graph[ENGINE].folder.join("src/lower/name.rs"))));
    vocabulary.extend(["Leg", "Overlap"].map(str::to_owned));
    assert_none(foreign_names_in(&graph[REPORT], "tierscope_engine::", &vocabulary));
}

#[test]
fn the_page_names_nothing_of_the_worker_but_its_protocol() {
    let only = |name: &str| BTreeSet::from([name.to_owned()]);
    let page = &workspace()[PAGE];
    let (entry, others): (Vec<PathBuf>, Vec<PathBuf>) =
        rust_files(&page.folder).into_iter().partition(|path| path.ends_with("src/main.rs"));
    let names = |paths: &[PathBuf], allowed: &str| -> Vec<String> {
        paths
            .iter()
            .flat_map(|path| foreign_names(path, &read(path), "tierscope_worker::", &only(allowed)))
            .collect()
    };
    assert_none(names(&others, "protocol"));
    // Page and workers are one module; its entry is where they part.
    assert_none(names(&entry, "wasm"));
}

#[test]
fn a_planted_name_of_the_machine_is_found() {
    let mut vocabulary =
        public_names("pub struct Fact;\npub(crate) struct Hidden;\npub enum Rejection { A }\nstruct Own;\n");
    assert_eq!(vocabulary, BTreeSet::from(["Fact".to_owned(), "Rejection".to_owned()]));
    vocabulary.insert("fact".to_owned());
    let source = "use tierscope_engine::{Fact, fact::Rejection, Engine as E};\n\
                  // tierscope_engine::Comment\n\
                  fn f(x: tierscope_engine::Hidden) {}\n";
    let found = foreign_names(Path::new("a.rs"), source, "tierscope_engine::", &vocabulary);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("a.rs:1: names `tierscope_engine::Engine`"), "{found:?}");
    assert!(found[1].contains("a.rs:3: names `tierscope_engine::Hidden`"), "{found:?}");
}

#[test]
fn clippys_rules_for_pure_crates_are_linked_in() {
    let graph = workspace();
    let missing = pure().filter(|package| {
        let link = graph[*package].folder.join("clippy.toml");
        !fs::read_link(&link).is_ok_and(|to| to == Path::new("../../.config/clippy-pure.toml"))
            || !link.is_file()
    });
    assert_none(
        missing
            .map(|package| {
                format!(
                    "{package} has no link clippy.toml: ln -s ../../.config/clippy-pure.toml in its folder"
                )
            })
            .collect(),
    );
}

#[test]
fn pure_crates_have_no_platform_switches() {
    let graph = workspace();
    let sources = pure().flat_map(|package| rust_files(&graph[package].folder));
    assert_none(sources.flat_map(|path| platform_switches(&path, &read(&path))).collect());
}

#[test]
fn a_planted_platform_switch_is_found() {
    let source =
        "fn f() {}\n#[cfg(not(target_arch = \"wasm32\"))]\nfn g() {}\n// cfg(target_arch) in words\n";
    let found = platform_switches(Path::new("a.rs"), source);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("a.rs:2: "), "{found:?}");
}

fn wrong_uses(graph: &Graph) -> Vec<String> {
    graph.iter().flat_map(|(name, package)| wrong_uses_of(name, package)).collect()
}

fn wrong_uses_of(name: &str, package: &Package) -> Vec<String> {
    let Some(rule) = RULES.iter().find(|rule| rule.package == name) else {
        return vec![format!("{name} has no rule: say in tests/layers.rs what stands below it")];
    };
    let mut wrong = Vec::new();
    for used in &package.uses {
        let ours = RULES.iter().any(|rule| rule.package == used.name);
        if ours && !rule.below.contains(&used.name.as_str()) {
            wrong.push(format!("{name} uses {}, which does not stand below it", used.name));
        }
        if FOR_TESTS_ONLY.contains(&used.name.as_str()) && !used.for_tests {
            wrong.push(format!("{name} uses {}, which is for tests only", used.name));
        }
        let Some(foreign) = rule.foreign.filter(|_| !ours) else { continue };
        let listed = |list: &[&str]| list.contains(&used.name.as_str());
        if !(listed(foreign) || used.for_tests && listed(FOR_TESTS)) {
            wrong.push(format!("{name} uses {}, which is not on its list of foreign crates", used.name));
        }
        if let Some((_, why)) =
            NO_DEFAULTS.iter().find(|(other, _)| *other == used.name && used.default_features)
        {
            wrong.push(format!("{name} uses {} with default features: {why}", used.name));
        }
    }
    wrong
}

/// The names that `fact.rs` lets others see, and may so be named by `report`.
fn public_names(source: &str) -> BTreeSet<String> {
    let kinds = ["pub struct ", "pub enum ", "pub type ", "pub const ", "pub fn "];
    let after = source.lines().filter_map(|line| kinds.iter().find_map(|kind| line.strip_prefix(kind)));
    after.map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()).collect()
}

fn foreign_names_in(package: &Package, of: &str, allowed: &BTreeSet<String>) -> Vec<String> {
    let sources = rust_files(&package.folder);
    sources.iter().flat_map(|path| foreign_names(path, &read(path), of, allowed)).collect()
}

/// What stands after `of` (`some_crate::`) in the source and is not allowed there.
fn foreign_names(path: &Path, source: &str, of: &str, allowed: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in source.match_indices(of) {
        let line_start = source[..at].rfind('\n').map_or(0, |newline| newline + 1);
        if source[line_start..at].trim_start().starts_with("//") {
            continue;
        }
        let line = source[..at].matches('\n').count() + 1;
        let names = first_names(&source[at + of.len()..]);
        for name in names.iter().filter(|name| !allowed.contains(*name)) {
            found.push(format!("{}:{line}: names `{of}{name}`, which it must not know", path.display()));
        }
    }
    found
}

/// The first segments of a path or of each path in a group: `{A, b::C}` gives A and b.
fn first_names(after: &str) -> Vec<String> {
    let word =
        |text: &str| text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let Some(group) = after.strip_prefix('{') else { return vec![word(after)] };
    let (mut depth, mut start, mut names) = (0_usize, 0, Vec::new());
    for (at, next) in group.char_indices() {
        match next {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.push(word(&group[start..at]));
                start = at + 1;
                if next == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty() && name != "self");
    names
}

fn platform_switches(path: &Path, source: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in source.lines().enumerate() {
        let code = line.split("//").next().unwrap_or("");
        if code.contains("cfg") && code.contains("target_arch") {
            found.push(format!("{}:{}: a platform switch in a pure crate", path.display(), number + 1));
        }
    }
    found
}

fn pure() -> impl Iterator<Item = &'static str> {
    [UNITS, ENGINE, SCENARIO, SIM, REPORT, SWEEP].into_iter()
}

#[track_caller]
fn assert_none(faults: Vec<String>) {
    assert!(faults.is_empty(), "the house's structure is broken:\n  {}", faults.join("\n  "));
}

/// The workspace as cargo sees it; nothing is resolved or fetched for it.
fn workspace() -> Graph {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo is there: it runs this test");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    metadata["packages"].as_array().expect("a list of packages").iter().map(package).collect()
}

fn package(value: &Value) -> (String, Package) {
    let text = |value: &Value| value.as_str().expect("cargo metadata has text here").to_owned();
    let manifest = PathBuf::from(text(&value["manifest_path"]));
    let folder = manifest.parent().expect("a manifest lies in a folder").to_path_buf();
    let uses = value["dependencies"].as_array().expect("a list of dependencies").iter();
    let uses = uses.map(|used| Use {
        name: text(&used["name"]),
        for_tests: used["kind"] == "dev",
        default_features: used["uses_default_features"] == true,
    });
    (text(&value["name"]), Package { folder, uses: uses.collect() })
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a crate's folder can be read").flatten();
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
