// Several workers: all at a glance, one on the board, all of one in the inspector, and each in the results.
import assert from "node:assert/strict";

import { digestOf, text, until, visit, write } from "./page.mjs";

async function open(world) {
  const visited = await visit(world);
  await digestOf(visited.page);
  await visited.page.selectOption("#case", "four-workers");
  await digestOf(visited.page);
  return visited;
}

async function seek(page, at) {
  await page.locator("#time").fill(String(at));
  await until(page, () => document.querySelector("#play").getAttribute("aria-label") === "Play");
}

/** Waits until an element says so. */
function says(page, selector, pattern) {
  const condition = ([where, source]) => new RegExp(source).test(document.querySelector(where)?.textContent ?? "");
  return until(page, condition, [selector, pattern.source]);
}

export const tests = {
  async "four workers at a glance: a click shows one, a second tells all of it"(world) {
    const { page, faults, close } = await open(world);
    await seek(page, 400);
    assert.deepEqual(await page.locator(".worker__name").allTextContents(), ["0prefill", "1prefill", "2decode", "3decode"]);
    await says(page, "#worker-2", /[1-9]\d* run/);
    await page.click("#worker-2");
    await says(page, "#live", /worker 2: /);
    assert.equal(await page.locator("#worker-2").getAttribute("aria-pressed"), "true");
    assert.equal(await page.locator("#picked").count(), 0);
    await page.click("#worker-2");
    await says(page, "#picked-reason", /^Answers prompts that were computed elsewhere: [1-9]\d* of 8 in its batch/);
    assert.match(await text(page, "#picked"), /Prefix index\d+ blocks can be matched/);
    // Whoever runs there is a name, and its life went over two workers.
    await page.locator('#picked-running [data-pick^="request."]').first().click();
    await says(page, "#picked-life", /prefill for .*handed on for .*decode for/);
    await page.locator('#picked [data-pick="worker.2"]').first().click();
    await says(page, "#picked-name", /^Worker 2$/);
    assert.deepEqual(faults, []);
    await close();
  },

  async "results tell each worker, and what the scenario expects"(world) {
    const { page, faults, close } = await open(world);
    await page.click("#tab-results");
    await page.locator("#workers-result").waitFor();
    assert.deepEqual(await page.locator("#workers-result tbody th").allTextContents(), ["0", "1", "2", "3"]);
    assert.match(await text(page, "#workers-result tbody tr:first-child"), /prefill.*ready/);
    await says(page, "#verdicts h3", /^Expected: 4 passed, 0 failed$/);
    await page.locator("#hits-chart svg").waitFor();
    await page.locator("#hits-table summary").click();
    assert.equal(await page.locator("#hits-table tbody tr").count(), 10);
    assert.match(await text(page, "#hits-table tbody tr:last-child"), /62\.5 %/);
    assert.deepEqual(faults, []);
    await close();
  },

  async "an expectation that fails shows what was found instead"(world) {
    const { page, faults, close } = await open(world);
    const area = page.locator("#scenario-text");
    await write(page, (await area.inputValue()).replace("requests.completed == 36", "requests.completed == 37"));
    await page.click("#run");
    await digestOf(page);
    await page.click("#tab-results");
    await says(page, "#verdicts h3", /^Expected: 3 passed, 1 failed$/);
    assert.match(await text(page, ".verdicts__one--failed"), /requests\.completed == 37.*found: requests\.completed is 36/);
    assert.deepEqual(faults, []);
    await close();
  },
};
