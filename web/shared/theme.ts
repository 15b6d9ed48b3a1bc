import { type Signal, signal } from '@preact/signals'

/** The colours somebody has chosen; `auto` goes by what the system says. */
export type Theme = 'auto' | 'light' | 'dark'

const THEMES: readonly Theme[] = ['auto', 'light', 'dark']
const KEY = 'pharos-theme'

/** What is chosen. Those who draw by themselves look at the colours again when it changes. */
export const theme: Signal<Theme> = signal(readTheme())

const darkRules = listDarkRules()
showTheme(theme.value)

/** Takes the next choice. */
export function switchTheme(): void {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'auto'
  showTheme(next)
  theme.value = next
  try {
    if (next === 'auto') localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, next)
  } catch {
    // Storage can be switched off; the choice then holds for this page.
  }
}

function readTheme(): Theme {
  try {
    const kept = localStorage.getItem(KEY)
    return THEMES.find((one) => one === kept) ?? 'auto'
  } catch {
    return 'auto'
  }
}

/** The dark colours are written once, for those whose system asks for them. A choice is a change of that condition. */
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
