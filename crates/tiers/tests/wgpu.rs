//! Memory of a GPU by wgpu, on Mesa's software Vulkan: the calls of a real GPU, a CPU that does them.

#![cfg(feature = "wgpu")]

use std::process::Command;
use std::sync::Arc;

use tierscope_tiers::gpu::wgpu::{WgpuError, WgpuMedium, WgpuOptions, list};
use tierscope_tiers::{Arena, Kind, Medium, conformance};

const SOFTWARE: &str = "llvmpipe";

/// Whether there is software Vulkan; a word, where there is none and need not be.
fn is_there() -> bool {
    let found = list();
    if found.iter().any(|gpu| gpu.name.contains(SOFTWARE)) {
        return true;
    }
    let required = std::env::var("TIERSCOPE_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name == "wgpu"), "no {SOFTWARE} among {found:?}");
    eprintln!("skipped: no {SOFTWARE} here (on Debian: apt-get install mesa-vulkan-drivers libvulkan1)");
    false
}

fn options(threads: u32) -> WgpuOptions {
    WgpuOptions { threads, adapter: Some(SOFTWARE.to_owned()), ..WgpuOptions::default() }
}

fn arena(block_bytes: usize) -> Arc<Arena> {
    Arc::new(Arena::new(32, block_bytes, false).expect("some megabytes"))
}

fn passes(block_bytes: usize, slots: u32, options: &WgpuOptions) {
    let arena = arena(block_bytes);
    let mut medium =
        WgpuMedium::open(Arc::clone(&arena), slots, options).unwrap_or_else(|error| panic!("{error}"));
    for check in conformance::run(&arena, &mut medium) {
        assert_eq!(check.failure, None, "{block_bytes} bytes, {options:?}: {}", check.name);
    }
}

#[test]
fn a_gpu_conforms_with_blocks_of_any_size() {
    if is_there() {
        for (block_bytes, threads) in [(8, 1), (4_096, 4), (65_536, 2), (1 << 20, 3)] {
            passes(block_bytes, 24, &options(threads));
        }
    }
}

#[test]
fn a_gpu_conforms_in_many_buffers() {
    if is_there() {
        // Buffers of three slots, of one, and one of which the end is lost.
        for (block_bytes, buffer_bytes_max) in [(4_096, 3 * 4_096), (65_536, 65_536), (72, 1_000)] {
            let options = WgpuOptions { buffer_bytes_max: Some(buffer_bytes_max), ..options(2) };
            passes(block_bytes, 25, &options);
        }
    }
}

#[test]
fn it_says_what_it_is() {
    if !is_there() {
        return;
    }
    let medium = WgpuMedium::open(arena(4_096), 16, &options(2)).unwrap_or_else(|error| panic!("{error}"));
    let told = medium.capability();
    assert_eq!((told.kind, told.slots, told.block_bytes), (Kind::Wgpu, 16, 4_096));
    assert!(told.name.contains(SOFTWARE) && told.name.contains("Mesa"), "{}", told.name);
    assert!(told.shortfalls.iter().any(|words| words.contains("no measure of one")), "{:?}", told.shortfalls);
}

#[test]
fn what_cannot_be_had_is_said_before_any_work() {
    if !is_there() {
        return;
    }
    let refused = |block_bytes, slots, options: &WgpuOptions| {
        WgpuMedium::open(arena(block_bytes), slots, options).map(|_| ()).expect_err("refused")
    };
    let large = refused(1 << 20, u32::MAX, &options(2));
    assert!(
        matches!(large, WgpuError::NoMemory { has: Some(_), .. }) && large.to_string().contains("mend"),
        "{large}"
    );
    let small = WgpuOptions { buffer_bytes_max: Some(4_095), ..options(2) };
    let block = refused(4_096, 16, &small);
    assert!(matches!(block, WgpuError::BadBlock { .. }) && block.to_string().contains("mend"), "{block}");
    let other = WgpuOptions { adapter: Some("no such GPU".to_owned()), ..options(2) };
    let unknown = refused(4_096, 16, &other);
    assert!(unknown.to_string().contains(SOFTWARE), "what there is is told: {unknown}");
}

/// Names what a child of this test is to do.
const CHILD: &str = "TIERSCOPE_TEST_WITHOUT_DRIVERS";

#[test]
fn where_there_is_no_driver_the_error_says_what_to_do() {
    if std::env::var_os(CHILD).is_some() {
        for adapter in [None, Some(SOFTWARE.to_owned()), Some("0".to_owned())] {
            let options = WgpuOptions { adapter, ..WgpuOptions::default() };
            match WgpuMedium::open(arena(4_096), 16, &options) {
                Ok(_) => println!("opened"),
                Err(error) => println!("{error}"),
            }
        }
        return;
    }
    let name = "where_there_is_no_driver_the_error_says_what_to_do";
    let child = Command::new(std::env::current_exe().expect("this test has a file"))
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, "1")
        // What the loader of Vulkan calls its list of drivers, now and formerly.
        .env("VK_DRIVER_FILES", "/nonexistent")
        .env("VK_ICD_FILENAMES", "/nonexistent")
        .output()
        .expect("this test can be started once more");
    let told = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{told}");
    assert_eq!(told.matches("there is no Vulkan driver").count(), 3, "{told}");
    assert_eq!(told.matches("mend: install").count(), 3, "{told}");
}
