import type { JSX } from 'preact'
import { switchTheme, theme } from './theme.ts'

/** Switches to the next colour theme. */
export function ThemeButton(): JSX.Element {
  const words = { auto: 'System', light: 'Light', dark: 'Dark' }
  const icons = { auto: '◐', light: '☀', dark: '☾' }
  const label = `Colours: ${words[theme.value]}`
  return (
    <button type="button" class="theme" aria-label={label} title={label} onClick={switchTheme}>
      <span aria-hidden="true">
        {icons[theme.value]} <span class="theme-word">{words[theme.value]}</span>
      </span>
    </button>
  )
}
