import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import type { ChunkProfile } from '../../../src/core/chunk/profiles.ts'
import { Modal } from '../../shared/dialog.tsx'
import { REACH_WORDS, RENDER_WORDS, readUrl } from '../home/crawl-order.ts'
import { readJobs } from '../live.ts'
import { type Refusal, send } from '../request.ts'
import { replaceQuery, route } from '../route.ts'
import { useReturn } from '../use-return.ts'

/** What the form holds: texts as they were typed. */
interface SourceFields {
  readonly url: string
  readonly name: string
  readonly version: string
  readonly reach: string
  /** One in a line. */
  readonly allow: string
  readonly block: string
  readonly maxPages: string
  readonly maxDepth: string
  readonly render: string
  readonly chunks: string
}

/** How pages are cut, in words. */
const CHUNK_WORDS: Readonly<Record<ChunkProfile, string>> = {
  library: 'into short passages',
  pack: 'into longer passages',
  tokens: 'into windows of 512 tokens',
}

const EMPTY: SourceFields = {
  url: '',
  name: '',
  version: '',
  reach: 'subpages',
  allow: '',
  block: '',
  maxPages: '',
  maxDepth: '',
  render: 'http',
  chunks: 'library',
}

/** Asks what to add. It is open where the address of the page says so, so that other pages can lead to it. */
export function AddSource({ onAdded }: { readonly onAdded: () => void }): JSX.Element {
  const fields = useSignal(EMPTY)
  const problem = useSignal<string | null>(null)
  const refusal = useSignal<Refusal | null>(null)
  const isBusy = useSignal(false)
  useReturn(refusal)
  const close = () => replaceQuery({ add: '' })
  const add = async (event: Event) => {
    event.preventDefault()
    refusal.value = null
    problem.value = findProblem(fields.value)
    if (problem.value !== null) return
    isBusy.value = true
    const answer = await send('/api/sources', writeSource(fields.value))
    isBusy.value = false
    if ('refusal' in answer) {
      refusal.value = answer.refusal
      return
    }
    fields.value = EMPTY
    close()
    await readJobs()
    onAdded()
  }
  const text = (name: keyof SourceFields, label: string, placeholder: string, isWide = false) => (
    <TextField
      label={label}
      placeholder={placeholder}
      value={fields.value[name]}
      isWide={isWide}
      hasLines={name === 'allow' || name === 'block'}
      onInput={(value) => {
        fields.value = { ...fields.value, [name]: value }
        problem.value = null
      }}
    />
  )
  const choice = (name: keyof SourceFields, label: string, words: Readonly<Record<string, string>>, isWide = false) => (
    <ChoiceField
      label={label}
      words={words}
      value={fields.value[name]}
      isWide={isWide}
      onInput={(value) => {
        fields.value = { ...fields.value, [name]: value }
      }}
    />
  )
  return (
    <Modal
      isOpen={route.value.query.get('add') === '1'}
      title="Add a source"
      onClose={close}
      onSubmit={(event) => void add(event)}
    >
      <div class="dialog-fields">
        {text('url', 'Address', 'https://example.com/docs/', true)}
        {text('name', 'Name', 'its host')}
        {text('version', 'Version', 'none')}
        {choice('reach', 'Scope', REACH_WORDS, true)}
        {text('allow', 'Only paths like', '/guide/**')}
        {text('block', 'No paths like', '/blog/**')}
        {text('maxPages', 'Most pages', 'no cap')}
        {text('maxDepth', 'Depth in links', 'any')}
        {choice('render', 'Read pages', RENDER_WORDS)}
        {choice('chunks', 'Cut pages', CHUNK_WORDS)}
      </div>
      <p class="field-note">Patterns: one in a line; * stands for a part of a path, ** for any number of them.</p>
      <p class="field-problem" role="alert">
        {problem.value ?? refusal.value?.message ?? ''}
      </p>
      <div class="dialog-buttons">
        <button type="button" onClick={close}>
          Back
        </button>
        <button type="submit" class="primary" disabled={isBusy.value}>
          Add and crawl
        </button>
      </div>
    </Modal>
  )
}

/** A field to type into. */
interface TextInput {
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly isWide: boolean
  readonly hasLines: boolean
  readonly onInput: (value: string) => void
}

function TextField({ label, placeholder, value, isWide, hasLines, onInput }: TextInput): JSX.Element {
  const id = useId()
  const props = { id, placeholder, value, autocomplete: 'off', spellcheck: false } as const
  return (
    <div class={isWide ? 'field wide' : 'field'}>
      <label for={id}>{label}</label>
      {hasLines ? (
        <textarea {...props} rows={2} onInput={(event) => onInput(event.currentTarget.value)} />
      ) : (
        <input {...props} type="text" onInput={(event) => onInput(event.currentTarget.value)} />
      )}
    </div>
  )
}

/** A field to choose from. */
interface ChoiceInput extends Pick<TextInput, 'label' | 'value' | 'isWide' | 'onInput'> {
  /** What is shown for each value. */
  readonly words: Readonly<Record<string, string>>
}

function ChoiceField({ label, words, value, isWide, onInput }: ChoiceInput): JSX.Element {
  const id = useId()
  return (
    <div class={isWide ? 'field wide' : 'field'}>
      <label for={id}>{label}</label>
      <select id={id} value={value} onInput={(event) => onInput(event.currentTarget.value)}>
        {Object.entries(words).map(([name, shown]) => (
          <option key={name} value={name}>
            {shown}
          </option>
        ))}
      </select>
    </div>
  )
}

/** What is wrong with the fields; null when they can be sent. */
function findProblem({ url, maxPages, maxDepth }: SourceFields): string | null {
  if (url.trim() === '') return 'An address is needed.'
  if (readUrl(url) === undefined) return 'This is no address of the web, such as https://example.com/docs/'
  if (readCount(maxPages) !== undefined && !/^[1-9]\d{0,8}$/.test(maxPages.trim())) {
    return `Most pages: a whole number from 1 on, not “${maxPages.trim()}”`
  }
  return /^(?:\d{1,9})?$/.test(maxDepth.trim()) ? null : `Depth in links: a whole number, not “${maxDepth.trim()}”`
}

/** The body of `POST /api/sources`; what was left empty is left to the server. */
function writeSource({ url, name, version, reach, allow, block, maxPages, maxDepth, render, chunks }: SourceFields) {
  const given = Object.entries({ name: name.trim(), version: version.trim() }).filter(([, value]) => value !== '')
  const counts = Object.entries({ maxPages: readCount(maxPages), maxDepth: readCount(maxDepth) }).filter(
    ([, value]) => value !== undefined,
  )
  const patterns = Object.entries({ allow: readLines(allow), block: readLines(block) }).filter(
    ([, lines]) => lines.length > 0,
  )
  const scope = { reach, ...Object.fromEntries(patterns), ...Object.fromEntries(counts) }
  return { url: readUrl(url), ...Object.fromEntries(given), scope, render, chunks }
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
