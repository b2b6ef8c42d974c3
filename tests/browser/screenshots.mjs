// Pictures of the page for people to look at: target/screenshots/*.png.
// As a command: node screenshots.mjs [gallery case] [position of the time slider, 0 to 1000] [what to click then]
import { mkdir } from "node:fs/promises";
import path from "node:path";

import { ROOT, digestOf, start, until, visit } from "./page.mjs";

const name = process.argv[2] ?? "first-steps";
const at = process.argv[3] ?? "450";
const click = process.argv[4];
const folder = path.join(ROOT, "target/screenshots");
await mkdir(folder, { recursive: true });

const world = await start();
try {
  for (const colorScheme of ["dark", "light"]) {
    const { page, close } = await visit(world, "", { colorScheme });
    await digestOf(page);
    if (name !== "first-steps") {
      await page.selectOption("#case", name);
      await digestOf(page);
    }
    await page.locator("#time").fill(at);
    await until(page, () => document.querySelector("#play").getAttribute("aria-label") === "Play");
    if (click) await page.click(click);
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    await page.screenshot({ path: path.join(folder, `${colorScheme}-1280x720.png`) });
    if (colorScheme === "light") {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
      await page.screenshot({ path: path.join(folder, "390x844.png") });
      await page.screenshot({ path: path.join(folder, "390x844-whole.png"), fullPage: true });
    }
    await close();
  }
} finally {
  await world.stop();
}
console.log(folder);
