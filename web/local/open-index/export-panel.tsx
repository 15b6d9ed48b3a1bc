import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { writeBytes } from '../../../src/core/text/bytes.ts'
import { isCancelled } from '../page-state.ts'
import { ErrorBox } from '../parts/error-box.tsx'
import { ProgressBar } from '../parts/progress-bar.tsx'
import { describeError, type ErrorMessage } from '../user-error.ts'
import { ARTEFACT_NAMES, type Artefact, type ArtefactName, type OpenedIndex } from '../work/operations.ts'
import { downloadArtefact } from './download.ts'
import { SecretsNote } from './secrets-note.tsx'

/** The purpose of each file of a pack. */
const PURPOSES: Readonly<Record<ArtefactName, string>> = {
  'llm.md': 'How a model uses the pack. It is useful only together with the pack.',
  'catalog.llm.md': 'The folders and files with the most text, and the chunks to begin with.',
  'outline.md': 'Every file with the lines and headings of its chunks, for browsing.',
  'index.json':
    'The whole index with all texts in one file. This page and the program open it again; it has no images.',
  'manifest.json': 'The metadata of all files and chunks, without their texts, for programs.',
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
    purpose: 'One zip with everything below, every chunk as a file, and the images. It can be opened here again.',
  },
  {
    artefact: { type: 'zip', compact: true },
    label: 'Compact pack',
    purpose: 'A smaller zip with only what a language model needs: llm.md, manifest.llm.tsv, chunks and images.',
  },
]

const FILES: readonly Choice[] = ARTEFACT_NAMES.map((name) => {
  return { artefact: { type: 'file', name }, label: name, purpose: PURPOSES[name] }
})

/** The progress of an export. */
interface ExportProgress {
  readonly label: string
  readonly bytes: number
  /** The estimated total in bytes; undefined until it can be estimated. */
  readonly total: number | undefined
  readonly stop: () => void
}

/** All downloads of an index. */
export function ExportPanel({ index }: { readonly index: OpenedIndex }): JSX.Element {
  const writing = useSignal<ExportProgress | null>(null)
  const doneMessage = useSignal('')
  /** The size of each artefact that was written. */
  const sizes = useSignal<Readonly<Record<string, number>>>({})
  const error = useSignal<ErrorMessage | null>(null)
  const stop = useRef(new AbortController())
  // Leaving the panel cancels the export.
  useEffect(() => () => stop.current.abort(), [])
  const pressedButton = useRef<HTMLButtonElement | null>(null)
  useEffect(() => {
    // The focused element is gone once the export ends, so the focus returns to the button.
    if (writing.value === null && document.activeElement === document.body) pressedButton.current?.focus()
  }, [writing.value === null])
  const start = async ({ artefact, label }: Choice) => {
    const controller = new AbortController()
    stop.current = controller
    writing.value = { label, bytes: 0, total: undefined, stop: () => controller.abort() }
    doneMessage.value = ''
    error.value = null
    try {
      const { name, blob } = await downloadArtefact(artefact, {
        signal: controller.signal,
        onProgress: ({ done: bytes, total }) => {
          if (writing.value !== null) writing.value = { ...writing.value, bytes, total }
        },
      })
      sizes.value = { ...sizes.value, [label]: blob.size }
      doneMessage.value = `${name}, ${writeBytes(blob.size)}, is in your downloads.`
    } catch (cause) {
      if (!isCancelled(cause)) error.value = describeError(cause)
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
          {choice.label in sizes.value ? (
            <span class="quiet number size">{writeBytes(sizes.value[choice.label] ?? 0)}</span>
          ) : null}
          <button
            type="button"
            class={choice === ZIPS[0] ? 'primary' : ''}
            aria-label={`Download ${choice.label}`}
            disabled={writing.value !== null}
            onClick={(event) => {
              pressedButton.current = event.currentTarget
              void start(choice)
            }}
          >
            Download
          </button>
        </li>
      ))}
    </ul>
  )
  return (
    <section aria-labelledby="export-title">
      <h2 id="export-title">Export {index.stored.name}</h2>
      <p class="quiet">
        Give a pack to an assistant that can read a zip, and tell it to begin with llm.md, which leads it to the few
        chunks that a question needs. For a chat without files, copy single chunks from the search.
      </p>
      {index.summary.secrets.count === 0 ? null : <SecretsWarning index={index} />}
      <ErrorBox error={error.value} />
      {writing.value === null ? null : <WritingPanel writing={writing.value} />}
      <p class="good" role="status" id="export-state">
        {doneMessage.value}
      </p>
      {rows(ZIPS)}
      <h2>Single files</h2>
      {rows(FILES)}
    </section>
  )
}

function SecretsWarning({ index }: { readonly index: OpenedIndex }): JSX.Element {
  return (
    <div class="panel notice warn" role="note" id="secrets-warning">
      <p>
        <strong>Passwords or keys may be in {index.summary.secrets.count === 1 ? 'a file' : 'these files'}:</strong>{' '}
        <SecretsNote index={index} />
      </p>
      <p>
        Everyone who gets the pack gets them too. To leave files out, press Update and name them under “Leave files
        out”.
      </p>
    </div>
  )
}

function WritingPanel({ writing }: { readonly writing: ExportProgress }): JSX.Element {
  const { label, bytes, total, stop } = writing
  const words = useRef<HTMLParagraphElement>(null)
  // The pressed button is disabled now and has lost the focus.
  useEffect(() => words.current?.focus({ preventScroll: true }), [])
  return (
    <div class="panel running">
      <p ref={words} tabIndex={-1}>
        Writing {label}
        {bytes === 0 ? '…' : `: ${writeBytes(bytes)} so far`}
        {total === undefined ? '' : ` of about ${writeBytes(total)}`}
      </p>
      <ProgressBar label={`Writing ${label}`} done={bytes} total={total} />
      <button type="button" onClick={stop}>
        Cancel
      </button>
    </div>
  )
}
