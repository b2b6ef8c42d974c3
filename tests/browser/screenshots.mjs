// Pictures of the page for people to look at, in target/screenshots/.
// As a command: node screenshots.mjs
//   the whole set: every scene below, at 1280×720 and 390×844, dark and light; TIERSCOPE_SCENES=tour,blocked: only these
// or: node screenshots.mjs CASE [position of the time slider, 0 to 1000] [what to click then]
//   one case of the gallery
import { mkdir } from "node:fs/promises";
import path from "node:path";

import { ROOT, digestOf, start, until, visit, write } from "./page.mjs";

const folder = path.join(ROOT, "target/screenshots");
await mkdir(folder, { recursive: true });

const WINDOW = { width: 1280, height: 720 };
const PHONE = { width: 390, height: 844 };

/** Two frames later everything is drawn. */
const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

async function choose(page, name) {
  await digestOf(page);
  if (name !== "first-steps") {
    await page.selectOption("#case", name);
    await digestOf(page);
  }
}

async function seek(page, at) {
  await page.locator("#time").fill(String(at));
  await until(page, () => document.querySelector("#play").getAttribute("aria-label") === "Play");
  // The board and the transaction of that time have come.
  await until(page, () => document.querySelector("#live").textContent.startsWith(`t = ${document.querySelector("#clock").textContent.split(" / ")[0]}`));
  await page.locator("#inspector").waitFor({ state: "attached" });
}

/** Opens a case, stops the cursor, and goes on. */
const at = (name, position, then = async () => {}) => async (page) => {
  await choose(page, name);
  await seek(page, position);
  await then(page);
};

const click = (selector) => (page) => page.locator(selector).first().click();

/** A pool of 4,096 blocks over three more tiers. */
const LARGE = `tierscope = 1
title = "Four tiers under a large pool"
lesson = "What leaves G1 goes down to G2 and on to G3 and G4, and comes up again."
seed = 1
[engine]
block_size_tokens = 16
g1_blocks = 4096
max_num_seqs = 64
[hardware]
kv_bytes_per_token = 131072
[g2]
blocks = 2_000
[g3]
blocks = 6_000
[g4]
blocks = 50_000
[timing]
model = "fixed"
prefill_per_token_ns = 20000
decode_ns = 8000000
[workload]
kind = "synthetic"
requests = 400
arrival = "poisson"
rate_per_s = 60.0
prompt_tokens = 1200
output_tokens = 60
shared_prefix = { tokens = 1024, groups = 40 }
`;

const FOUR_TIERS = LARGE.replace("4096\n", "96\n").replace("2_000", "64").replace("6_000", "160").replace("50_000", "5_000").replace("max_num_seqs = 64", "max_num_seqs = 4")
  .replace("= 1200", "= 160").replace("tokens = 1024, groups = 40", "tokens = 256, groups = 12").replace("requests = 400", "requests = 120").replace("under a large pool", "and six lanes").replace("rate_per_s = 60.0", "rate_per_s = 20.0");

const text = (scenario, position) => async (page) => {
  await digestOf(page);
  await write(page, scenario);
  await page.click("#run");
  await digestOf(page);
  await seek(page, position);
};

/** What is pictured. */
const SCENES = {
  "first-steps": at("first-steps", 450),
  "tour": async (page) => {
    await choose(page, "first-steps");
    await page.click("#help");
    await page.click("#start-tour");
    await page.locator("#tour h2").waitFor();
    await page.click("#tour-next");
  },
  "exhausted": async (page) => {
    await choose(page, "twelve-blocks");
    await page.click("#first-exhausted");
    await until(page, () => /capacity exhausted/.test(document.querySelector("#txn-outcome-name")?.textContent));
  },
  "blocked": async (page) => {
    await choose(page, "blocked-on-offload");
    await seek(page, 900);
    await until(page, () => document.querySelector('[data-lane="G1-G2"].lane--busy'));
    await page.locator(".census__row th .pick").last().click();
    await page.locator("#picked-reason").waitFor();
  },
  "block-story": at("shared-prefix", 500, async (page) => {
    await page.locator("#board canvas").first().click({ position: { x: 8, y: 8 } });
    await page.locator("#picked-story").waitFor();
  }),
  "dead-end": at("hold-and-wait", 1000),
  "four-tiers": text(FOUR_TIERS, 420),
  "four-tiers-large": text(LARGE, 420),
  "table": at("blocked-on-offload", 700, click("#board-table")),
  "workers": at("four-workers", 420),
  "results": at("disk-hit", 1000, click("#tab-results")),
  "results-workers": at("four-workers", 1000, click("#tab-results")),
  "compare": at("first-steps", 450, click("#tab-compare")),
  "sizing": at("first-steps", 450, click("#tab-sizing")),
};

async function whole(world) {
  const only = process.env.TIERSCOPE_SCENES?.split(",") ?? Object.keys(SCENES);
  for (const colorScheme of ["dark", "light"]) {
    for (const viewport of [WINDOW, PHONE]) {
      for (const name of only) {
        const { page, close } = await visit(world, "", { colorScheme, viewport });
        await SCENES[name](page);
        await drawn(page);
        const size = `${viewport.width}x${viewport.height}`;
        await page.screenshot({ path: path.join(folder, `${name}-${size}-${colorScheme}.png`) });
        if (viewport === PHONE) await page.screenshot({ path: path.join(folder, `${name}-${size}-${colorScheme}-whole.png`), fullPage: true });
        await close();
      }
    }
  }
}

async function one(world, name, position, then) {
  for (const colorScheme of ["dark", "light"]) {
    const { page, close } = await visit(world, "", { colorScheme });
    await at(name, position, then ? click(then) : undefined)(page);
    await drawn(page);
    await page.screenshot({ path: path.join(folder, `${colorScheme}-1280x720.png`) });
    if (colorScheme === "light") {
      await page.setViewportSize(PHONE);
      await drawn(page);
      await page.screenshot({ path: path.join(folder, "390x844.png") });
      await page.screenshot({ path: path.join(folder, "390x844-whole.png"), fullPage: true });
    }
    await close();
  }
}

const [name, position = "450", then] = process.argv.slice(2);
const world = await start();
try {
  await (name ? one(world, name, position, then) : whole(world));
} finally {
  await world.stop();
}
console.log(folder);
