import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { SourceItem } from '../api.ts'
import { replaceQuery, route } from '../route.ts'

/** Chips that are shown before the rest is asked for. */
const MAX_CHIPS = 10

/** The sources to search, and their versions, as buttons. The address of the page keeps the selection. */
export function SourceChips({ sources }: { readonly sources: readonly SourceItem[] }): JSX.Element | null {
  const isWhole = useSignal(false)
  const { query } = route.value
  const chosen = query.getAll('source')
  const names = [...new Set([...sources.map(({ name }) => name), ...chosen])]
  if (names.length < 2) return null
  const isShown = (name: string, i: number) => isWhole.value || i < MAX_CHIPS || chosen.includes(name)
  const shown = names.filter(isShown)
  const toggle = (name: string) => {
    const rest = chosen.filter((one) => one !== name)
    replaceQuery({ source: rest.length < chosen.length ? rest : [...chosen, name], version: '' })
  }
  return (
    <fieldset class="chips" aria-label="Sources">
      <Chip
        label="All sources"
        isChosen={chosen.length === 0}
        onChoose={() => replaceQuery({ source: '', version: '' })}
      />
      {shown.map((name) => (
        <Chip key={name} label={name} isChosen={chosen.includes(name)} onChoose={() => toggle(name)} />
      ))}
      {shown.length === names.length ? null : (
        <button
          type="button"
          class="link small"
          onClick={() => {
            isWhole.value = true
          }}
        >
          {names.length - shown.length} more
        </button>
      )}
    </fieldset>
  )
}

/** The versions of the chosen sources. */
export function VersionChips({ sources }: { readonly sources: readonly SourceItem[] }): JSX.Element | null {
  const { query } = route.value
  const chosen = query.getAll('source')
  const version = query.get('version') ?? ''
  const ofChosen = sources.filter(({ name }) => chosen.length === 0 || chosen.includes(name))
  const perName = Map.groupBy(ofChosen, ({ name }) => name)
  const several = [...perName.values()].filter((items) => items.length > 1)
  if (several.length === 0 && version === '') return null
  // Numbers mean something only if they are those of one source.
  const own = several.length === 1 ? several.flat().flatMap((item) => item.version ?? []) : []
  const versions = [...new Set([...own, ...(version === '' ? [] : [version])])]
  const shown = versions.filter((one) => one !== '*').slice(0, MAX_CHIPS)
  const choose = (to: string) => replaceQuery({ version: to })
  return (
    <fieldset class="chips" aria-label="Versions">
      <Chip label="Newest version" isChosen={version === ''} onChoose={() => choose('')} />
      {shown.map((one) => (
        <Chip key={one} label={one} isChosen={version === one} onChoose={() => choose(one)} />
      ))}
      <Chip label="All versions" isChosen={version === '*'} onChoose={() => choose('*')} />
    </fieldset>
  )
}

function Chip(props: {
  readonly label: string
  readonly isChosen: boolean
  readonly onChoose: () => void
}): JSX.Element {
  return (
    <button type="button" class="chip" aria-pressed={props.isChosen} onClick={props.onChoose}>
      {props.label}
    </button>
  )
}
