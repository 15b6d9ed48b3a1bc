import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { isLong } from '../faults/bounded.ts'

/** The screens on which pages are checked; each width in each color scheme in a long run. */
const SCREENS = [
  { width: 1280, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
  ...(isLong
    ? ([
        { width: 1280, colorScheme: 'dark' },
        { width: 390, colorScheme: 'light' },
      ] as const)
    : []),
] as const

/** What axe-core finds on an open page on a wide screen and a phone, light and dark, and whether the page is wider than its screen. */
export async function listViolations(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const { width, colorScheme } of SCREENS) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme })
    const problems = await runAxe(page)
    found.push(...problems.map((problem) => `${width}, ${colorScheme}: ${problem}`))
    const shownWidth = await page.evaluate<number>('document.documentElement.scrollWidth')
    if (shownWidth > width) found.push(`${width}: ${shownWidth} pixels wide`)
  }
  return found
}

/** Folded parts are opened first. The policy of the page does not apply to the debugger, which runs axe-core. */
async function runAxe(page: Page): Promise<string[]> {
  await page.evaluate("for (const part of document.querySelectorAll('details:not(.menu)')) part.open = true")
  if (!(await page.evaluate<boolean>("typeof axe === 'object'"))) await page.evaluate(axe.source)
  return page.evaluate<string[]>(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 200) + ' ' + failureSummary)))",
  )
}
