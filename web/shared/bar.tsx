import type { ComponentChildren, JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { groupOf, NAVIGATION, UNDERSTANDING } from '../../src/core/navigation.ts'
import { ThemeButton } from './theme-button.tsx'

/** The current page, and what the bar shows besides the navigation. */
interface BarInput {
  /** The label of the current page in the navigation; undefined outside it. */
  readonly page: string | undefined
  /** Whether the library has findings about places. */
  readonly hasFindings: boolean
  /** Whether a server has the other pages; the local page may be hosted without one. */
  readonly hasServer?: boolean
  /** Elements in front of the theme button. */
  readonly children?: ComponentChildren
}

/** The skip link, the bar and the pages of the current group, as on the server-rendered pages. */
export function Bar({ page, hasFindings, hasServer = true, children }: BarInput): JSX.Element {
  const current = groupOf(page)
  const groups = NAVIGATION.filter((group) => group.label !== UNDERSTANDING || hasFindings || group === current)
  useEffect(() => {
    // On a narrow screen the navigation scrolls, so the current entry may be out of view.
    for (const link of document.querySelectorAll(':is(.top, .sub) [aria-current]'))
      link.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [page])
  return (
    <>
      {/* Not a link: the fragment of the address is the route of these pages. */}
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <div class="top-row">
          <a class="brand" href={hasServer ? '/#/' : '#/'}>
            Pharos
          </a>
          {hasServer ? (
            <nav aria-label="Main">
              <ul>
                {groups.map((group) => (
                  <li key={group.label}>
                    <a
                      href={group.path}
                      aria-current={group !== current ? undefined : group.pages.length === 0 ? 'page' : 'true'}
                    >
                      {group.label}
                    </a>
                  </li>
                ))}
              </ul>
            </nav>
          ) : (
            <span class="spring" />
          )}
          <div class="tools">
            {children}
            {hasServer ? <a href="/docs">API</a> : null}
            <ThemeButton />
          </div>
        </div>
      </header>
      {hasServer && current !== undefined && current.pages.length > 0 ? (
        <nav class="sub" aria-label={current.label}>
          <ul>
            {current.pages.map(({ label, path }) => (
              <li key={label}>
                <a href={path} aria-current={label === page ? 'page' : undefined}>
                  {label}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      ) : null}
    </>
  )
}
