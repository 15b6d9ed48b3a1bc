import { type Signal, signal } from '@preact/signals'

/** The chosen colour theme; `auto` follows the system. */
export type Theme = 'auto' | 'light' | 'dark'

const THEMES: readonly Theme[] = ['auto', 'light', 'dark']
const KEY = 'pharos-theme'

/** The current theme. Components that draw on a canvas read the colors again when it changes. */
export const theme: Signal<Theme> = signal(readTheme())

const darkRules = listDarkRules()
showTheme(theme.value)

/** Switches to the next theme. */
export function switchTheme(): void {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'auto'
  showTheme(next)
  theme.value = next
  try {
    if (next === 'auto') localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, next)
  } catch {
    // Storage can be disabled; the choice then lasts until the page is closed.
  }
}

function readTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY)
    return THEMES.find((candidate) => candidate === stored) ?? 'auto'
  } catch {
    return 'auto'
  }
}

/** The style sheet has the dark colours once, in a media query. A chosen theme replaces the condition of that query. */
function showTheme(chosen: Theme): void {
  const conditions = { auto: '(prefers-color-scheme: dark)', light: 'not all', dark: 'all' }
  for (const rule of darkRules) rule.media.mediaText = conditions[chosen]
  document.documentElement.style.colorScheme = chosen === 'auto' ? '' : chosen
}

function listDarkRules(): CSSMediaRule[] {
  return [...document.styleSheets]
    .flatMap(({ cssRules }) => [...cssRules])
    .filter((rule) => rule instanceof CSSMediaRule)
    .filter(({ media }) => media.mediaText === '(prefers-color-scheme: dark)')
}
