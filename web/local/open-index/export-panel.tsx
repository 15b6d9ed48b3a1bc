import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { writeBytes } from '../../../src/core/text/bytes.ts'
import { isStopped } from '../desk.ts'
import type { Kept } from '../keep/shelf.ts'
import { ProgressBar } from '../parts/progress-bar.tsx'
import { TroubleBox } from '../parts/trouble-box.tsx'
import { type Told, tell } from '../trouble.ts'
import { ARTEFACT_NAMES, type Artefact, type ArtefactName } from '../work/operations.ts'
import { downloadArtefact } from './download.ts'

/** What each file of a pack is for. */
const PURPOSES: Readonly<Record<ArtefactName, string>> = {
  'llm.md': 'What a language model reads first: how it gets to the few chunks it needs.',
  'catalog.llm.md': 'Where most of the text lies, and where to begin.',
  'outline.md': 'Every file with its chunks, to look through.',
  'index.json': 'The whole index in one file. This page opens it again.',
  'manifest.json': 'All that is known of files and chunks, for programs.',
  'manifest.min.json': 'The same without ids and hashes.',
  'manifest.llm.tsv': 'Files and chunks as a table that costs a model few tokens.',
}

interface Choice {
  readonly artefact: Artefact
  readonly label: string
  readonly purpose: string
}

const ZIPS: readonly Choice[] = [
  {
    artefact: { type: 'zip', compact: false },
    label: 'Full pack',
    purpose: 'One zip with everything below, every chunk as a file, and the images. Give this to others.',
  },
  {
    artefact: { type: 'zip', compact: true },
    label: 'Compact pack',
    purpose: 'One zip with only what a language model needs: llm.md, the table, chunks and images.',
  },
]

const FILES: readonly Choice[] = ARTEFACT_NAMES.map((name) => {
  return { artefact: { type: 'file', name }, label: name, purpose: PURPOSES[name] }
})

/** What is being written. */
interface Writing {
  readonly label: string
  readonly bytes: number
  readonly stop: () => void
}

/** Everything that can be downloaded. */
export function ExportPanel({ kept }: { readonly kept: Kept }): JSX.Element {
  const writing = useSignal<Writing | null>(null)
  const done = useSignal('')
  const trouble = useSignal<Told | null>(null)
  const stop = useRef(new AbortController())
  // Whoever leaves no longer waits for it.
  useEffect(() => () => stop.current.abort(), [])
  const start = async ({ artefact, label }: Choice) => {
    const own = new AbortController()
    stop.current = own
    writing.value = { label, bytes: 0, stop: () => own.abort() }
    done.value = ''
    trouble.value = null
    try {
      const { name, blob } = await downloadArtefact(artefact, {
        signal: own.signal,
        onProgress: (progress) => {
          if (writing.value !== null) writing.value = { ...writing.value, bytes: progress.done }
        },
      })
      done.value = `${name}, ${writeBytes(blob.size)}, is in your downloads.`
    } catch (error) {
      if (!isStopped(error)) trouble.value = tell(error)
    }
    writing.value = null
  }
  const rows = (choices: readonly Choice[]) => (
    <ul class="rows panel">
      {choices.map((choice) => (
        <li key={choice.label}>
          <span class="grow">
            <strong>{choice.label}</strong>
            <span class="quiet small block">{choice.purpose}</span>
          </span>
          <button
            type="button"
            class={choice === ZIPS[0] ? 'primary' : ''}
            aria-label={`Download ${choice.label}`}
            disabled={writing.value !== null}
            onClick={() => void start(choice)}
          >
            Download
          </button>
        </li>
      ))}
    </ul>
  )
  return (
    <section aria-labelledby="export-title">
      <h2 id="export-title">Export {kept.name}</h2>
      <TroubleBox told={trouble.value} />
      {writing.value === null ? null : <WritingPanel writing={writing.value} />}
      <p class="good" role="status" id="export-state">
        {done.value}
      </p>
      {rows(ZIPS)}
      <h2>Single files</h2>
      {rows(FILES)}
    </section>
  )
}

function WritingPanel({ writing }: { readonly writing: Writing }): JSX.Element {
  const { label, bytes, stop } = writing
  return (
    <div class="panel running">
      <p>
        Writing {label}
        {bytes === 0 ? '…' : `: ${writeBytes(bytes)} so far`}
      </p>
      <ProgressBar label={`Writing ${label}`} done={bytes} />
      <button type="button" onClick={stop}>
        Cancel
      </button>
    </div>
  )
}
