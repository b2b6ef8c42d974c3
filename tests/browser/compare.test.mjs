// What if: a fork by key and by button, two boards under one cursor, where they part, the differences, several seeds.
import assert from "node:assert/strict";

import { digestOf, scenario, text, until, visit, write } from "./page.mjs";

const SCENARIO = await scenario("two-tiers");

/** Opens the page with the scenario above, run. */
async function open(world, options = {}) {
  const visited = await visit(world, "", options);
  await digestOf(visited.page);
  await write(visited.page, SCENARIO);
  await visited.page.click("#run");
  await digestOf(visited.page);
  return visited;
}

const knob = (key) => `[data-key="${key}"]`;

/** Doubles G2 in the form, as a person would, and compares. */
async function doubleG2(page) {
  await page.keyboard.press("Shift+F");
  await page.locator("#what-if-form").waitFor();
  await page.locator(knob("g2.blocks")).getByRole("button", { name: "G2: twice as much", exact: true }).click();
  assert.equal(await page.locator("#what-if-g2-blocks").inputValue(), "120");
  await page.click("#what-if-go");
  await page.locator("#differences").waitFor();
  await page.locator("#parting").waitFor();
}

export const tests = {
  async "Shift+F doubles G2, both boards show, and one cursor moves both"(world) {
    const { page, faults, close } = await open(world);
    await page.locator("#scenario-text").evaluate((area) => area.blur());
    await doubleG2(page);
    assert.match(await text(page, "#compare-b"), /g2\.blocks=120.*from the beginning: finished/);
    assert.equal(await page.locator("#duel [data-side]").count(), 2);
    await page.locator("#duel-time").fill("1000");
    await until(page, () => {
      const free = document.querySelector('#duel-totals [data-line="G2 free"]')?.children;
      return free && free[1].textContent !== free[2].textContent;
    });
    assert.match(await text(page, '#duel-totals [data-line="Done"]'), /4040=/);
    await page.locator("#duel-time").fill("0");
    await until(page, () => document.querySelector('#duel-totals [data-line="Done"]').children[2].textContent === "0");
    await page.click("#compare-end");
    await page.locator("#duel").waitFor({ state: "detached" });
    await page.locator("#board").waitFor();
    assert.deepEqual(faults, []);
    await close();
  },

  async "where two runs part is named in words, marked, and gone to"(world) {
    const { page, faults, close } = await open(world);
    await page.click("#what-if");
    await page.locator("#what-if-engine-max_num_seqs").fill("2");
    await page.click("#what-if-go");
    await page.locator("#parting").waitFor();
    assert.match(await text(page, "#parting"), /A .* B /);
    await page.locator("#duel .duel__parting").waitFor();
    await page.locator("#tracks .tracks__parting").waitFor();
    const before = await text(page, "#duel-clock");
    await page.locator("#duel-time").fill("1000");
    await until(page, (was) => document.querySelector("#duel-clock").textContent !== was, before);
    await page.click("#go-there");
    const said = await text(page, "#parting");
    await until(page, (words) => words.includes(document.querySelector("#duel-clock").textContent), said);
    assert.deepEqual(faults, []);
    await close();
  },

  async "a fork from the cursor leaves what was before, and refuses what cannot change"(world) {
    const { page, faults, close } = await open(world);
    await page.locator("#time").fill("500");
    await page.click("#what-if");
    await page.locator("#what-if-engine-g1_blocks").fill("10");
    await page.locator("#what-if-cursor").check();
    await page.click("#what-if-go");
    await page.locator(".compare .faults").first().waitFor();
    assert.match(await text(page, ".compare .faults"), /fewer blocks of G1.*from the beginning/);
    await page.locator("#what-if-engine-g1_blocks").fill("400");
    await page.click("#what-if-go");
    await page.locator("#parting").waitFor();
    assert.match(await text(page, "#compare-b"), /g1_blocks=400.*on: finished/);
    await page.locator("#duel-time").fill("100");
    await until(page, () => {
      const line = document.querySelector('#duel-totals [data-line="G1 free"]');
      return line && line.children[3].textContent === "=";
    });
    await page.locator("#duel-time").fill("1000");
    await until(page, () => document.querySelector('#duel-totals [data-line="G1 cached"]').children[3].textContent !== "=");
    assert.deepEqual(faults, []);
    await close();
  },

  async "the table tells better from worse by words, and hides what is the same when asked"(world) {
    const { page, faults, close } = await open(world);
    await page.click("#what-if");
    await page.locator("#what-if-engine-g1_blocks").fill("400");
    await page.click("#what-if-go");
    const ttft = page.locator('#differences [data-line="TTFT p99"]');
    await ttft.waitFor();
    assert.match(await ttft.textContent(), /better.*−/);
    for (const line of ["TPOT p90", "E2E mean", "Goodput", "Preemptions", "Outcome", "all tiers", "G1→G2"]) {
      assert.equal(await page.locator(`#differences [data-line="${line}"]`).count(), 1, line);
    }
    const all = await page.locator("#differences .differences__line").count();
    await page.check("#only-differences");
    const differing = await page.locator("#differences .differences__line").count();
    assert.ok(differing < all && differing > 5, `${differing} of ${all}`);
    assert.deepEqual(faults, []);
    await close();
  },

  async "faults of a change are told in the form, in the parser's words"(world) {
    const { page, faults, close } = await open(world);
    await page.click("#what-if");
    await page.click("#what-if-go");
    assert.match(await text(page, ".what-if .faults"), /no change.*turn a knob/);
    await page.locator("#what-if-free").fill("engine.g1_blokcs=5");
    await page.click("#what-if-go");
    await until(page, () => /g1_blocks/.test(document.querySelector(".what-if .faults")?.textContent ?? ""));
    assert.equal(await page.locator("#duel").count(), 0);
    assert.deepEqual(faults, []);
    await close();
  },

  async "several seeds give intervals, and can be stopped"(world) {
    const { page, faults, close } = await open(world);
    await page.click("#what-if");
    await page.locator("#what-if-engine-g1_blocks").fill("400");
    await page.click("#what-if-go");
    await page.locator("#parting").waitFor();
    await page.selectOption("#seed-count", "5");
    await page.click("#run-seeds");
    await page.locator("#spread").waitFor();
    const line = page.locator('#spread [data-line="TTFT p99"]');
    assert.match(await line.textContent(), /−.*….*sure/);
    assert.match(await text(page, "#spread caption"), /5 seeds/);
    await page.selectOption("#seed-count", "20");
    await page.click("#run-seeds");
    await page.locator('[data-cancel="seeds"]').click();
    await page.getByText("Stopped.").waitFor();
    assert.ok(await page.locator("#run-seeds").isEnabled());
    assert.deepEqual(faults, []);
    await close();
  },

  async "another run of A brings another of B"(world) {
    const { page, faults, close } = await open(world);
    await page.locator("#scenario-text").evaluate((area) => area.blur());
    await doubleG2(page);
    const before = await page.locator('#differences [data-line="TTFT mean"] td').first().textContent();
    await write(page, SCENARIO.replace("rate_per_s = 40.0", "rate_per_s = 80.0"));
    await page.click("#run");
    await until(page, (was) => {
      const cell = document.querySelector('#differences [data-line="TTFT mean"] td');
      return cell && cell.textContent !== was;
    }, before);
    assert.match(await text(page, "#compare-b"), /g2\.blocks=120/);
    assert.deepEqual(faults, []);
    await close();
  },
};
