//! G1 by CUDA, against a stand-in for the driver's library: the suite of all media, and each call that fails. There is
//! no GPU in it, so nothing here is a measurement.
//!
//! A process finds its driver once, so each case is a process of its own: this test, started again with a role.
#![cfg(all(feature = "cuda", target_os = "linux"))]

mod double;
mod roles;

use double::{Double, Heard};

/// What the children do; by itself, nothing.
#[test]
fn child() {
    roles::play();
}

fn double() -> Option<Double> {
    Double::new(&[])
}

/// A medium that was opened, copied and dropped: it left nothing behind.
#[track_caller]
fn clean(heard: &Heard) {
    assert!(heard.worked, "{}{}", heard.out, heard.err);
    let left = "with 0 allocations, 0 registrations, 0 streams and 0 events left";
    assert!(heard.err.contains(left), "{}", heard.err);
}

#[test]
fn the_suite_holds_and_nothing_is_left_behind() {
    let Some(double) = double() else { return };
    for orders in ["say", "say;slow_us=200"] {
        let heard = double.child("conform", orders);
        clean(&heard);
        assert!(heard.out.contains("name: stand-in: no GPU, CUDA 13.0"), "{}", heard.out);
        assert!(heard.out.contains("stand_in: true"), "{}", heard.out);
        assert!(heard.out.contains("there is no GPU: nothing is measured on it"), "{}", heard.out);
        assert!(!heard.out.contains("call of its own"), "{}", heard.out);
    }
}

#[test]
fn older_drivers_have_an_older_call_for_many_or_none() {
    let cases: [(&[&str], bool); 2] =
        [(&["cuMemcpyBatchAsync_v2"], true), (&["cuMemcpyBatchAsync_v2", "cuMemcpyBatchAsync"], false)];
    for (without, batched) in cases {
        let Some(double) = Double::new(without) else { return };
        let heard = double.child("conform", "say");
        clean(&heard);
        assert_eq!(
            !heard.out.contains("each block is copied by a call of its own"),
            batched,
            "{}",
            heard.out
        );
    }
}

#[test]
fn what_cannot_be_opened_is_told_with_a_mend() {
    let Some(double) = double() else { return };
    let cases = [
        ("memory=1000", "65536 bytes are asked for, and 1000 of the device's 1000 are free"),
        ("fail=cuMemAlloc_v2@1:2", "does not give memory: CUDA_ERROR_OUT_OF_MEMORY (2)"),
        ("devices=0", "does not initialise the driver: CUDA_ERROR_NO_DEVICE (100)"),
        ("fail=cuInit@1:34", "the toolkit's stub"),
        ("fail=cuInit@1:803", "restart the machine"),
        ("fail=cuDeviceGetCount@1:54321", "an answer that this driver has no word for (54321)"),
        ("fail=cuDevicePrimaryCtxRetain@1:2", "does not open the device"),
        ("fail=cuStreamCreate@1:304", "does not make a stream: CUDA_ERROR_OPERATING_SYSTEM (304)"),
        ("fail=cuEventCreate@1:304", "does not make an event"),
    ];
    for (orders, words) in cases {
        let heard = double.child("copy", &format!("say;{orders}"));
        assert!(
            heard.worked && heard.out.contains("error: G1, cuda"),
            "{orders}: {}{}",
            heard.out,
            heard.err
        );
        assert!(heard.out.contains(words) && heard.out.contains("\n  mend: "), "{orders}: {}", heard.out);
        assert!(!heard.err.contains("panicked") && !heard.err.contains(", 1 "), "{orders}: {}", heard.err);
    }
    let heard = double.child("the fourth device", "");
    assert!(
        heard.out.contains("no device 3; the driver sees 1\n  mend: a number from 0 to 0"),
        "{}",
        heard.out
    );
}

#[test]
fn a_machine_without_a_driver_or_with_another_library_of_its_name_is_told_so() {
    let heard = Double::nothing().child("copy", "");
    if heard.out.contains("capability") {
        eprintln!("skipped: this machine has a CUDA driver of its own");
        return;
    }
    assert!(heard.worked && heard.out.contains("no CUDA driver"), "{}{}", heard.out, heard.err);
    assert!(heard.out.contains("mend: "), "{}", heard.out);
    let Some(double) = Double::new(&["cuMemHostRegister_v2"]) else { return };
    let heard = double.child("copy", "");
    assert!(
        heard.worked && heard.out.contains("has no function cuMemHostRegister_v2\n  mend: "),
        "{}",
        heard.out
    );
}

#[test]
fn memory_that_cannot_be_registered_is_a_shortfall() {
    let Some(double) = double() else { return };
    let heard = double.child("copy", "say;fail=cuMemHostRegister_v2@1:304");
    clean(&heard);
    let words = "not registered with the GPU (CUDA_ERROR_OPERATING_SYSTEM)";
    assert!(heard.out.contains(words) && heard.out.contains("registered memory only"), "{}", heard.out);
    assert!(heard.out.contains("right: 8, wrong: 0"), "{}", heard.out);
    // Two media on one arena: the first has registered it.
    let heard = double.child("two on one arena", "say");
    clean(&heard);
    assert!(heard.out.contains("ALREADY_REGISTERED"), "{}", heard.out);
}

const OK: &str = "ok ok ok ok ok ok ok ok";
const DEVICE: &str = "device device device device device device device device";
const MISSING: &str = "missing missing missing missing missing missing missing missing";
const GONE: &str = "gone gone gone gone gone gone gone gone";

/// What eight blocks are told: stored, loaded, and loaded and looked at.
#[track_caller]
fn told(double: &Double, orders: &str, store: &str, load: &str, look: &str) -> Heard {
    let heard = double.child("copy", &format!("say;{orders}"));
    let words = format!("store: {store}\nload: {load}\n");
    let (found, looked) = (heard.out.contains(&words), heard.out.contains(&format!("look: {look}\n")));
    assert!(
        heard.worked && found && looked,
        "{orders}: expected\n{words}look: {look}\n{}{}",
        heard.out,
        heard.err
    );
    heard
}

#[test]
fn a_call_that_fails_is_a_fault_of_the_blocks_that_it_was_for() {
    let Some(double) = double() else { return };
    let told = |orders: &str, store: &str, load: &str, look: &str| {
        clean(&told(&double, orders, store, load, look));
    };
    told("", OK, OK, OK);
    // Opening copies one block to see whether there are batches: that is each function's first call.
    told("fail=cuMemcpyBatchAsync_v2@2:1", DEVICE, MISSING, MISSING);
    told("fail=cuMemcpyBatchAsync_v2@3:1", OK, DEVICE, OK);
    told("fail=cuMemcpyBatchAsync_v2@3:2", OK, &OK.replace("ok", "no_space"), OK);
    told("fail=cuEventRecord@2:400", DEVICE, MISSING, MISSING);
    told("fail=cuEventRecord@3:400", OK, DEVICE, OK);
    // Without batches each block's call is its own.
    let singly = |orders| format!("fail=cuMemcpyBatchAsync_v2@1:801;{orders}");
    let third = "ok ok device ok ok ok ok ok";
    let missing = "ok ok missing ok ok ok ok ok";
    told(&singly("fail=cuMemcpyHtoDAsync_v2@3:1"), third, missing, missing);
    told(&singly("fail=cuMemcpyDtoHAsync_v2@3:1"), OK, third, OK);
}

#[test]
fn a_context_that_is_lost_is_gone_for_good() {
    let Some(double) = double() else { return };
    // One copy of the opening, eight stored, three loaded.
    told(&double, "lost_after=12", OK, GONE, GONE);
    told(&double, "lost_after=4", GONE, GONE, GONE);
    told(&double, "fail=cuMemcpyBatchAsync_v2@3:700", OK, GONE, GONE);
    // A driver that will not say whether its copies are over is not trusted with another.
    told(&double, "fail=cuEventRecord@3:400;fail=cuStreamSynchronize@1:1", OK, DEVICE, GONE);
    // Lost while it is opened.
    let heard = double.child("copy", "lost_after=0");
    let words = "does not copy a first block: CUDA_ERROR_ILLEGAL_ADDRESS (700)\n  mend: ";
    assert!(heard.worked && heard.out.contains(words), "{}{}", heard.out, heard.err);
}

#[test]
fn a_wrong_byte_is_seen_by_who_looks() {
    let Some(double) = double() else { return };
    let corrupt = "ok ok corrupt ok ok ok ok ok";
    let heard = told(&double, "wrong_at=4", OK, OK, corrupt);
    assert!(heard.out.contains("right: 7, wrong: 1"), "{}", heard.out);
}

#[test]
fn whichever_call_fails_each_batch_ends_and_what_is_served_is_right() {
    let Some(double) = double() else { return };
    let mut cases = 0;
    for name in double.functions() {
        // Failures that end, failures that stay, and a lost device.
        for order in ["1:999", "2:1", "3:1", "5:304", "2+:1", "4+:2", "3:700"] {
            // In this role, a block that is served and wrong fails the child; so does a panic.
            let heard = double.child("copy", &format!("fail={name}@{order}"));
            let told = heard.out.contains("right: ") || heard.out.contains("\n  mend: ");
            assert!(heard.worked && told, "{name}@{order}: {}{}", heard.out, heard.err);
            cases += 1;
        }
    }
    println!("{cases} processes in which a call failed");
    assert!(cases >= 150, "{cases}");
}
