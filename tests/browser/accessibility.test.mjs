// For everyone: axe finds nothing on any sheet or state, light or dark; the focus goes in order; twice the size, a
// phone, forced colours and reduced motion all leave a page that can be used.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";

import { digestOf, until, visit, write } from "./page.mjs";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds, a line for each. */
async function violations(page, where) {
  // Colours are judged as they end up, not on their way.
  await page.evaluate(() => Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => {}))));
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    // Experimental, and taken in by signs: "½" is called "half of it".
    const rules = { "label-content-name-mismatch": { enabled: false } };
    // The timeline is as dense as its kind is: what is small in it can be had by search, by key, and in its table.
    const isSmallOnPurpose = (rule, node) => rule.id === "target-size" && document.querySelector(node.target[0])?.closest(".panel--time");
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const { violations } = await window.axe.run(document, { runOnly: tags, rules });
    return violations.flatMap((rule) => rule.nodes.filter((node) => !isSmallOnPurpose(rule, node)).map((node) => `${rule.id}: ${node.target.join(" ")} (${node.failureSummary.split("\n")[1]?.trim()})`));
  });
  return found.map((line) => `${where}: ${line}`);
}

/** Opens a case of the gallery and waits for its end. */
async function choose(page, name) {
  await page.selectOption("#case", name);
  await digestOf(page);
}

async function seek(page, at) {
  await page.locator("#time").fill(String(at));
  await until(page, () => document.querySelector("#play").getAttribute("aria-label") === "Play");
}

/** Everything that the page can look like, one after the other. */
async function everyState(page, look) {
  await digestOf(page);
  await seek(page, 500);
  await look("first steps");
  await choose(page, "blocked-on-offload");
  await page.selectOption("#txn-outcome", "blocked");
  await seek(page, 0);
  await page.locator("#txn-none").waitFor();
  await look("nothing found");
  await page.click("#txn-next");
  await page.locator('[data-lane="G1-G2"].lane--busy').waitFor();
  await page.locator(".census__row .pick").nth(1).click();
  await page.locator("#picked-reason").waitFor();
  await look("a request selected");
  await page.locator("#board canvas").first().click({ position: { x: 8, y: 8 } });
  await page.locator("#picked-story, #picked-life").first().waitFor();
  await look("a block selected");
  await page.click("#board-table");
  await look("the board as table");
  await page.click("#board-table");
  await page.click("#tab-results");
  await page.locator("#results").waitFor();
  await page.locator("#sheet-results details").evaluateAll((all) => all.forEach((one) => (one.open = true)));
  await look("results");
  for (const sheet of ["compare", "sizing"]) {
    await page.click(`#tab-${sheet}`);
    await look(sheet);
  }
  await page.click("#tab-inspector");
  await choose(page, "hold-and-wait");
  await page.locator("#wait-cycle").waitFor();
  await look("dead end");
  await choose(page, "four-workers");
  await seek(page, 400);
  await page.locator("#worker-2").click();
  await page.locator('#worker-2[aria-pressed="true"]').waitFor();
  await page.locator("#worker-2").click();
  await page.locator("#picked-running").waitFor();
  await look("workers");
  await page.click("#help");
  await page.locator("#help-dialog[open]").waitFor();
  await look("help");
  await page.click("#start-tour");
  await page.locator("#tour h2").waitFor();
  await look("tour");
  await page.click("#tour-skip");
  await write(page, "tierscope = 1\nnonsense = 2\n");
  await page.locator("#problems .fault").first().waitFor();
  await look("a fault");
}

const tests = {};

for (const colorScheme of ["light", "dark"]) {
  tests[`axe finds nothing in any state, ${colorScheme}`] = async (world) => {
    const { page, faults, close } = await visit(world, "", { colorScheme, bypassCSP: true });
    const found = [];
    await everyState(page, async (where) => found.push(...(await violations(page, where))));
    assert.deepEqual([...new Set(found)], []);
    assert.deepEqual(faults, []);
    await close();
  };
}

Object.assign(tests, {
  async "the focus goes from the case over the scenario and the board to the sheets, and is seen"(world) {
    const { page, faults, close } = await visit(world);
    await digestOf(page);
    await page.locator(".header__brand").focus();
    const order = [];
    for (let step = 0; step < 60; step += 1) {
      await page.keyboard.press("Tab");
      const at = await page.evaluate(() => {
        const here = document.activeElement;
        // The editor's frame takes the ring for the text within it.
        const style = getComputedStyle(here.closest(".editor:focus-within") ?? here);
        const region = here.closest("header, .panel--scenario, .panel--board, .panel--time, .panel--side");
        return { region: region?.className.split(" ").at(-1) ?? here.tagName, seen: style.outlineStyle !== "none" };
      });
      if (at.region === "BODY") break;
      assert.ok(at.seen, `the focus is seen in ${at.region}`);
      if (order.at(-1) !== at.region) order.push(at.region);
    }
    const wanted = ["header", "panel--scenario", "panel--board", "panel--time", "panel--side"];
    assert.deepEqual(order.filter((region) => wanted.includes(region)), wanted);
    assert.deepEqual(faults, []);
    await close();
  },

  async "one line is live, and says what the board shows"(world) {
    const { page, close } = await visit(world);
    await digestOf(page);
    await seek(page, 500);
    assert.equal(await page.locator(".panel--board [aria-live]").count(), 1);
    assert.equal(await page.locator('#live[aria-live="polite"]').count(), 1);
    assert.match(await page.locator("#live").textContent(), /^t = .*: \d+ running, \d+ waiting, \d+ done/);
    await close();
  },

  async "at twice the size and on a phone nothing lies outside, and everything can be reached"(world) {
    for (const viewport of [{ width: 640, height: 360 }, { width: 390, height: 844 }]) {
      const { page, faults, close } = await visit(world, "", { viewport });
      await digestOf(page);
      await choose(page, "four-workers");
      await seek(page, 400);
      const over = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(await over(), 0, `${viewport.width} px`);
      await page.locator(".census__row .pick").first().click();
      await page.locator("#picked-reason").waitFor();
      assert.ok(await page.locator("#picked-reason").evaluate((line) => line.getBoundingClientRect().width > 200));
      await page.click("#tab-results");
      await page.locator("#results").waitFor();
      assert.equal(await over(), 0, `results at ${viewport.width} px`);
      assert.deepEqual(faults, []);
      await close();
    }
  },

  async "with forced colours the chosen tab, worker and row are still told apart"(world) {
    const { page, faults, close } = await visit(world, "", { forcedColors: "active" });
    await digestOf(page);
    await choose(page, "four-workers");
    const edge = (selector) => page.locator(selector).evaluate((one) => getComputedStyle(one).borderTopColor + getComputedStyle(one).borderBottomColor + getComputedStyle(one).borderTopWidth);
    assert.notEqual(await edge('#worker-0[aria-pressed="true"]'), await edge("#worker-1"));
    assert.notEqual(await edge("#tab-inspector"), await edge("#tab-results"));
    assert.deepEqual(faults, []);
    await close();
  },

  async "a word tells its meaning to the keyboard and to the pointer"(world) {
    const { page, faults, close } = await visit(world);
    await digestOf(page);
    await page.click("#tab-results");
    const tip = page.locator("#term-results-ttft");
    await page.locator('[data-term="term-results-ttft"]').focus();
    await tip.waitFor();
    assert.match(await tip.textContent(), /time to first token/);
    assert.equal(await page.locator('[data-term="term-results-ttft"]').getAttribute("aria-description"), await tip.textContent());
    await page.keyboard.press("Escape");
    await tip.waitFor({ state: "detached" });
    await page.locator('[data-term="term-results-itl"]').hover();
    await page.locator("#term-results-itl").waitFor();
    assert.deepEqual(faults, []);
    await close();
  },
});

export { tests };
