import { type Signal, useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useId } from 'preact/hooks'
import type { ChunkProfile } from '../../../src/core/chunk/profiles.ts'
import { readPastedAddress } from '../../../src/core/url/pasted-address.ts'
import { Modal } from '../../shared/dialog.tsx'
import { Options } from '../../shared/options.tsx'
import { findUrlProblem, REACH_WORDS, RENDER_WORDS, readUrl, TREE_ADDRESS } from '../home/crawl-form.ts'
import { readJobs } from '../live.ts'
import { type Answer, type Refusal, request, send, writeQuery } from '../request.ts'
import { replaceQuery, route } from '../route.ts'
import { useClearOnReconnect } from '../use-clear-on-reconnect.ts'
import { describeAddress } from './describe-address.ts'
import { EVERY_WORDS } from './schedule.tsx'

/** The values of the form, as typed. */
interface SourceFields {
  readonly url: string
  readonly ref: string
  readonly path: string
  readonly name: string
  readonly version: string
  readonly reach: string
  /** One pattern per line. */
  readonly allow: string
  readonly block: string
  readonly maxPages: string
  readonly maxDepth: string
  readonly render: string
  readonly chunks: string
  readonly every: string
}

/** Labels for how pages are chunked. */
const CHUNK_WORDS: Readonly<Record<ChunkProfile, string>> = {
  library: 'into short passages',
  pack: 'into longer passages',
  tokens: 'into windows of 512 tokens',
}

/** Matches repositories, which have additional fields. */
const REPOSITORY = /^(?:git[+@:]|ssh:)|\.git\/?$/i

function isTreeAddress(text: string): boolean {
  return TREE_ADDRESS.test(text.trim()) || readPastedAddress(text).meaning !== undefined
}

function isRepositoryAddress(text: string): boolean {
  return REPOSITORY.test(readPastedAddress(text).url)
}

const EMPTY: SourceFields = {
  url: '',
  ref: '',
  path: '',
  name: '',
  version: '',
  reach: 'subpages',
  allow: '',
  block: '',
  maxPages: '',
  maxDepth: '',
  render: 'http',
  chunks: 'library',
  every: 'never',
}

/** Called with the crawl that was started; null after an import. */
interface AddSourceInput {
  readonly onAdded: (started: StartedCrawl | null) => void
}

/** The dialog that adds a source. A query parameter opens it, so that other pages can link to it; another one fills in the address. */
export function AddSource({ onAdded }: AddSourceInput): JSX.Element {
  const fields = useSignal(EMPTY)
  const problem = useSignal<string | null>(null)
  const refusal = useSignal<Refusal | null>(null)
  const isBusy = useSignal(false)
  const file = useSignal<File | null>(null)
  const acceptsLoss = useSignal(false)
  useClearOnReconnect(refusal)
  const close = () => replaceQuery({ add: '', url: '' })
  const { query } = route.value
  const isOpen = query.get('add') === '1'
  const linkedUrl = query.get('url') ?? ''
  useEffect(() => {
    if (isOpen && linkedUrl !== '') fields.value = { ...EMPTY, url: linkedUrl }
  }, [isOpen, linkedUrl])
  const add = async (event: Event) => {
    event.preventDefault()
    const form = event.currentTarget
    refusal.value = null
    problem.value = file.value === null ? findProblem(fields.value) : null
    if (problem.value !== null) return
    isBusy.value = true
    const answer =
      file.value === null
        ? await send('/api/sources', writeSource(fields.value))
        : await sendChunks(file.value, fields.value, acceptsLoss.value)
    isBusy.value = false
    if ('refusal' in answer) {
      refusal.value = answer.refusal
      return
    }
    // The fields stay until the crawl has read a page: a source without pages is not kept, and can be added again with other values.
    if (file.value !== null) fields.value = EMPTY
    file.value = null
    acceptsLoss.value = false
    // Only a form reset clears a file input.
    if (form instanceof HTMLFormElement) form.reset()
    close()
    await readJobs()
    onAdded(isStarted(answer.value) ? answer.value : null)
  }
  const change = (name: keyof SourceFields, value: string) => {
    fields.value = { ...fields.value, [name]: value }
    problem.value = null
  }
  const text = (name: keyof SourceFields, label: string, placeholder: string, isWide = false) => (
    <Field label={label} isWide={isWide}>
      {(id) => {
        const onInput = (event: { readonly currentTarget: { readonly value: string } }) =>
          change(name, event.currentTarget.value)
        const props = { id, placeholder, value: fields.value[name], autocomplete: 'off', spellcheck: false, onInput }
        return name === 'allow' || name === 'block' ? (
          <textarea {...props} rows={2} />
        ) : (
          <input {...props} type="text" />
        )
      }}
    </Field>
  )
  const choice = (name: keyof SourceFields, label: string, words: Readonly<Record<string, string>>, isWide = false) => (
    <Field label={label} isWide={isWide}>
      {(id) => (
        <select id={id} value={fields.value[name]} onInput={(event) => change(name, event.currentTarget.value)}>
          <Options of={Object.entries(words)} />
        </select>
      )}
    </Field>
  )
  const hasFile = file.value !== null
  const pasted = readPastedAddress(fields.value.url)
  const isTree = !hasFile && isTreeAddress(fields.value.url)
  const isRepository = !hasFile && isRepositoryAddress(fields.value.url)
  const isSite = !hasFile && !isTree
  const isLoss = hasFile && refusal.value?.code === 'CRAWL_LOSS'
  return (
    <Modal isOpen={isOpen} title="Add a source" onClose={close} onSubmit={(event) => void add(event)}>
      <div class="dialog-fields">
        {!hasFile && text('url', 'Address', 'https://example.com/docs/', true)}
        {!hasFile && <Meaning text={fields.value.url} />}
      </div>
      <details class="advanced" open={hasFile || undefined}>
        <summary>Advanced</summary>
        <div class="dialog-fields">
          {isTree && text('path', 'Subfolder', pasted.path ?? 'all')}
          {isRepository && text('ref', 'Branch, tag or commit', pasted.ref ?? 'the default branch')}
          {text('name', 'Name', hasFile ? 'as before, or the host' : isTree ? 'automatic' : 'the host')}
          {text('version', 'Version', 'none')}
          {isSite && choice('reach', 'Scope', REACH_WORDS, true)}
          {!hasFile && text('allow', 'Only paths like', '/guide/**')}
          {!hasFile && text('block', 'No paths like', '/blog/**')}
          {!hasFile && text('maxPages', 'Page limit', 'none')}
          {!hasFile && text('maxDepth', isTree ? 'Folder depth' : 'Link depth', 'any')}
          {isSite && choice('render', 'Read pages', RENDER_WORDS)}
          {!hasFile && choice('chunks', 'Cut pages', CHUNK_WORDS)}
          {!hasFile && choice('every', 'Crawl again', EVERY_WORDS)}
          <Field label="Or a file of chunks" isWide>
            {(id) => (
              <input
                id={id}
                type="file"
                accept=".json,application/json"
                onInput={(event) => {
                  file.value = event.currentTarget.files?.[0] ?? null
                  acceptsLoss.value = false
                  problem.value = null
                  refusal.value = null
                }}
              />
            )}
          </Field>
          {isLoss && <LossField isAccepted={acceptsLoss} />}
        </div>
        <p class="field-note">
          Patterns: one per line; * matches one part of a path, ** any number of parts. A file of chunks is a JSON file
          of another program, and replaces the chunks that were imported before.
        </p>
      </details>
      <p class="field-problem" role="alert">
        {problem.value ?? refusal.value?.message ?? ''}
      </p>
      <div class="dialog-buttons">
        <button type="button" onClick={close}>
          Back
        </button>
        <button type="submit" class="primary" disabled={isBusy.value}>
          {hasFile ? 'Import' : 'Add and crawl'}
        </button>
      </div>
    </Modal>
  )
}

/** The answer to a source that was added. */
export interface StartedCrawl {
  readonly jobId: string
  readonly source: { readonly id: string; readonly url: string }
}

function isStarted(value: unknown): value is StartedCrawl {
  return typeof value === 'object' && value !== null && 'jobId' in value
}

/** What the typed address was understood as, or what can be typed. A folder of a machine is read by that machine. */
function Meaning({ text }: { readonly text: string }): JSX.Element {
  const { isFolder, words } = describeAddress(text)
  if (isFolder) {
    return (
      <p class="field-note wide" role="status">
        A server does not read folders of a machine. Read this one <a href="/local/">in your browser</a>, where nothing
        is uploaded, or add it on its machine: <code>pharos add {text.trim()}</code>
      </p>
    )
  }
  return (
    <p class="field-note wide" role="status">
      {words === ''
        ? 'A web site, a git repository (owner/name), a package (npm:react@18, pypi:requests, crates:serde, maven:group:artifact) or an archive (.zip, .tar.gz).'
        : `Understood as ${words}.`}
    </p>
  )
}

/** A field below its label. */
interface FieldInput {
  readonly label: string
  readonly isWide: boolean
  readonly children: (id: string) => JSX.Element
}

function Field({ label, isWide, children }: FieldInput): JSX.Element {
  const id = useId()
  return (
    <div class={isWide ? 'field wide' : 'field'}>
      <label for={id}>{label}</label>
      {children(id)}
    </div>
  )
}

/** The confirmation for an import that removes more pages than the loss gate allows. */
function LossField({ isAccepted }: { readonly isAccepted: Signal<boolean> }): JSX.Element {
  return (
    <label class="wide">
      <input
        type="checkbox"
        checked={isAccepted.value}
        onInput={(event) => {
          isAccepted.value = event.currentTarget.checked
        }}
      />{' '}
      Remove pages that are not in the file
    </label>
  )
}

/** Validates the fields; returns null if they can be sent. */
function findProblem({ url, maxPages, maxDepth }: SourceFields): string | null {
  const urlProblem = readPastedAddress(url).meaning === undefined ? findUrlProblem(url) : null
  if (urlProblem !== null) return urlProblem
  if (readCount(maxPages) !== undefined && !/^[1-9]\d{0,8}$/.test(maxPages.trim())) {
    return `Page limit: a whole number from 1 on, not “${maxPages.trim()}”`
  }
  return /^(?:\d{1,9})?$/.test(maxDepth.trim()) ? null : `Link depth: a whole number, not “${maxDepth.trim()}”`
}

/** Uploads a file unchanged; the server parses and validates it. */
function sendChunks(file: File, { name, version }: SourceFields, acceptsLoss: boolean): Promise<Answer<unknown>> {
  const query = writeQuery({ name: name.trim(), version: version.trim(), acceptLoss: acceptsLoss ? 1 : null })
  return request(`/api/import${query}`, { method: 'POST', body: file, headers: { 'content-type': 'application/json' } })
}

/** Builds the body of `POST /api/sources`; empty fields are left out, so that the server uses its defaults. */
function writeSource(fields: SourceFields) {
  const { url, ref, path, name, version, reach, allow, block, maxPages, maxDepth, render, chunks } = fields
  const isTree = isTreeAddress(url)
  // Ref and path apply only to some kinds of sources. Values typed before the address changed are hidden and must not be sent.
  const treeFields = {
    ...(isRepositoryAddress(url) ? { ref: ref.trim() } : {}),
    ...(isTree ? { path: path.trim() } : {}),
  }
  const texts = { name: name.trim(), version: version.trim(), ...treeFields }
  const filledTexts = Object.entries(texts).filter(([, value]) => value !== '')
  const counts = Object.entries({ maxPages: readCount(maxPages), maxDepth: readCount(maxDepth) }).filter(
    ([, value]) => value !== undefined,
  )
  const patterns = Object.entries({ allow: readLines(allow), block: readLines(block) }).filter(
    ([, lines]) => lines.length > 0,
  )
  const scope = { reach, ...Object.fromEntries(patterns), ...Object.fromEntries(counts) }
  return {
    url: readPastedAddress(url).meaning === undefined ? readUrl(url) : url.trim(),
    ...Object.fromEntries(filledTexts),
    scope,
    ...(isTree ? {} : { render }),
    chunks,
    ...(fields.every === 'never' ? {} : { every: fields.every }),
  }
}

function readCount(text: string): number | undefined {
  return text.trim() === '' ? undefined : Number(text)
}

function readLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
