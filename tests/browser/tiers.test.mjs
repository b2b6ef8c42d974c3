// Tiers below G1 on screen: shelves and lanes, what is on its way, the story of a transfer, and the results.
import assert from "node:assert/strict";

import { digestOf, text, until, visit, write } from "./page.mjs";

/** Opens a case of the gallery and waits for its end. */
async function open(world, name, options = {}) {
  const visited = await visit(world, "", options);
  await digestOf(visited.page);
  await visited.page.selectOption("#case", name);
  await digestOf(visited.page);
  return visited;
}

/** Runs a text of one's own. */
async function run(page, scenario) {
  await write(page, scenario);
  await page.click("#run");
  await digestOf(page);
}

/** Stops the cursor at a share of the run, in thousandths. */
async function seek(page, at) {
  await page.locator("#time").fill(String(at));
  await until(page, () => document.querySelector("#play").getAttribute("aria-label") === "Play");
}

const lane = (name, count) => `[data-lane="${name}"] [data-count="${count}"]`;

/** Waits until an element says so. */
function says(page, selector, pattern) {
  const condition = ([where, source]) => new RegExp(source).test(document.querySelector(where)?.textContent ?? "");
  return until(page, condition, [selector, pattern.source]);
}

const FOUR_TIERS = `tierscope = 1
title = "Four tiers"
seed = 1
[engine]
block_size_tokens = 16
g1_blocks = 24
max_num_seqs = 4
[g2]
blocks = 12
[g3]
blocks = 40
[g4]
blocks = 5_000
[timing]
model = "fixed"
prefill_per_token_ns = 100000
decode_ns = 1000000
[workload]
kind = "synthetic"
requests = 40
arrival = "poisson"
rate_per_s = 40.0
prompt_tokens = 160
output_tokens = 4
shared_prefix = { tokens = 128, groups = 6 }
`;

export const tests = {
  async "a copy under way is on its lane, in the list, and in the words of who waits for it"(world) {
    const { page, faults, close } = await open(world, "blocked-on-offload");
    await page.selectOption("#txn-outcome", "blocked");
    await seek(page, 0);
    await page.locator("#txn-none").waitFor();
    await page.click("#txn-next");
    await says(page, "#txn-transfer", /Transfer 0 carries 4 blocks from G1 to G2: they were evicted.*Queued at .*, begun at .*, done at .*, after 20\.0 ms.*Who waits for it: request 1\./);
    await says(page, lane("G1-G2", "moving"), /^1$/);
    assert.equal(await text(page, lane("G1-G2", "queued")), "0");
    assert.match(await text(page, lane("G1-G2", "use")), /^100 % of 10\d MB\/s$/);
    assert.match(await strip(page, "G1-G2").getAttribute("aria-label"), /^G1 to G2: transfer 0 at 0 %$/);
    assert.equal(await text(page, '[data-tier="G2"] [data-state="reserved"]'), "4");
    assert.match(await text(page, "#moves"), /G1→G2 4 blocks, since/);
    assert.match(await text(page, ".census"), /end of transfer 0.*G1→G2, 4 blocks, under way/);
    await seek(page, 1000);
    await says(page, "#moves", /Nothing moves/);
    assert.equal(await text(page, '[data-tier="G2"] [data-state="cached"]'), "4");
    assert.equal(await text(page, lane("G1-G2", "completed")), "1");
    assert.deepEqual(faults, []);
    await close();
  },

  async "all four tiers have a shelf, six lanes join them, and the counts add up"(world) {
    const { page, faults, close } = await visit(world);
    await digestOf(page);
    await run(page, FOUR_TIERS);
    await seek(page, 600);
    await page.locator('[data-tier="G4"] canvas').waitFor();
    const shelves = await page.locator("[data-tier]:has(canvas)").evaluateAll((all) => all.map((shelf) => shelf.dataset.tier));
    assert.deepEqual(shelves, ["G1", "G2", "G3", "G4"]);
    const lanes = await page.locator("[data-lane]:has(.lane__strip)").evaluateAll((all) => all.map((one) => one.dataset.lane));
    assert.deepEqual(lanes.sort(), ["G1-G2", "G2-G1", "G2-G3", "G2-G4", "G3-G2", "G4-G2"]);
    for (const [tier, capacity] of [["G2", 12], ["G3", 40], ["G4", 5_000]]) {
      const counts = await page.locator(`[data-tier="${tier}"] [data-state]`).allTextContents();
      const sum = counts.map((count) => Number(count.replace(/\D/g, ""))).reduce((a, b) => a + b, 0);
      assert.equal(sum, capacity, tier);
      assert.match(await page.locator(`[data-tier="${tier}"] canvas`).getAttribute("aria-label"), new RegExp(`^${tier}: .*free|resident`));
    }
    assert.deepEqual(faults, []);
    await close();
  },

  async "two loads that wait for each other are named at the last instant"(world) {
    const { page, faults, close } = await open(world, "two-loads");
    assert.equal(await text(page, "#outcome"), "dead end");
    // In the middle everything is under way; at the end the cycle has formed.
    await seek(page, 500);
    await page.locator("#wait-cycle").waitFor({ state: "detached" });
    await seek(page, 1000);
    await page.locator("#wait-cycle li").first().waitFor();
    const cycle = (await page.locator("#wait-cycle li").allTextContents()).join("\n");
    assert.match(cycle, /request 3 lacks 1088 blocks, and request 4 holds 736\nrequest 4 stands in the line behind request 3/);
    assert.match(await text(page, ".side__census"), /3\s*loaded\s*512\s*1\s?088/);
    await page.selectOption("#case", "two-loads-mended");
    await digestOf(page);
    assert.equal(await text(page, "#outcome"), "finished");
    assert.deepEqual(faults, []);
    await close();
  },

  async "results have tiers, lanes and loads"(world) {
    const { page, faults, close } = await visit(world);
    await digestOf(page);
    await run(page, FOUR_TIERS);
    await page.click("#tab-results");
    await page.locator("#tiers-result").waitFor();
    assert.deepEqual(await page.locator("#tiers-result tbody th").allTextContents(), ["G1", "G2", "G3", "G4"]);
    assert.equal(await page.locator("#lanes-result tbody tr").count(), 6);
    assert.match(await text(page, "#loads-result"), /^\d+ loads: \d+ blocks loaded/);
    await page.locator("#resident-chart svg").waitFor();
    // A run without tiers has none of this.
    await page.selectOption("#case", "first-steps");
    await digestOf(page);
    await page.locator("#tiers-result").waitFor({ state: "detached" });
    assert.equal(await page.locator("#moves").count(), 0);
    assert.deepEqual(faults, []);
    await close();
  },

  async "batches move along their lane with the cursor, and a click on one selects it"(world) {
    const { page, faults, close } = await blocked(world);
    const early = await picture(page);
    await seek(page, 900);
    await until(page, () => /at [4-9]\d %/.test(document.querySelector('[data-lane="G1-G2"] canvas').getAttribute("aria-label")));
    assert.notEqual(await picture(page), early, "the mark has moved");
    const share = Number((await strip(page, "G1-G2").getAttribute("aria-label")).match(/at (\d+) %/)[1]) / 100;
    const { width, height } = await strip(page, "G1-G2").boundingBox();
    // Flights go from a fifth of the strip, 32 px at most, to ten pixels before its end.
    const from = Math.min(32, width * 0.2);
    await strip(page, "G1-G2").click({ position: { x: from + share * (width - 10 - from), y: height / 2 } });
    await says(page, "#picked-name", /^Transfer 0$/);
    await says(page, "#picked-reason", /Under way, \d+ %\. Transfer 0 carries 4 blocks from G1 to G2/);
    assert.deepEqual(faults, []);
    await close();
  },

  async "batches on lanes stand still where motion is reduced"(world) {
    const { page, faults, close } = await blocked(world, { reducedMotion: "reduce" });
    const early = await picture(page);
    await seek(page, 900);
    await until(page, () => /at [4-9]\d %/.test(document.querySelector('[data-lane="G1-G2"] canvas').getAttribute("aria-label")));
    assert.equal(await picture(page), early, "the mark stands");
    assert.deepEqual(faults, []);
    await close();
  },
};

const strip = (page, name) => page.locator(`[data-lane="${name}"] canvas`);

/** The strip of the lane as it is drawn. */
const picture = (page) => strip(page, "G1-G2").evaluate((canvas) => canvas.toDataURL());

/** The case in which a request is blocked on an offload, as the copy begins. */
async function blocked(world, options) {
  const visited = await open(world, "blocked-on-offload", options);
  const { page } = visited;
  await page.selectOption("#txn-outcome", "blocked");
  await seek(page, 0);
  await page.locator("#txn-none").waitFor();
  await page.click("#txn-next");
  await says(page, '[data-lane="G1-G2"] [data-count="moving"]', /^1$/);
  return visited;
}
