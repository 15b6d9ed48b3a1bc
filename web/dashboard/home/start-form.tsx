import { type Signal, useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { labelOfCode } from '../../../src/core/address-labels.ts'
import { Options } from '../../shared/options.tsx'
import type { CrawlTypeItem, CrawlTypeList } from '../api.ts'
import { liveJobs, readJobs } from '../live.ts'
import { RefusalNote } from '../refusal-note.tsx'
import { type Answer, type Refusal, request, send } from '../request.ts'
import { useClearOnReconnect } from '../use-clear-on-reconnect.ts'
import {
  type CrawlFields,
  checkFields,
  DEFAULT_FIELDS,
  type FieldProblems,
  isPlanned,
  REACH_WORDS,
  RENDER_WORDS,
  readUrl,
  writeCrawlBody,
} from './crawl-form.ts'
import { CheckField, Field, type SharedFields, TextField } from './fields.tsx'
import { MissingMilestones } from './missing-milestones.tsx'
import { PlanFields } from './plan-fields.tsx'

/** The form that starts a crawl. */
export function StartForm(): JSX.Element {
  const fields = useSignal(DEFAULT_FIELDS)
  const problems = useSignal<FieldProblems>({})
  const refusal = useSignal<Refusal | null>(null)
  const isBusy = useSignal(false)
  const isQueued = useSignal(false)
  useClearOnReconnect(refusal)
  const form = useRef<HTMLFormElement>(null)
  const types = useSignal<readonly CrawlTypeItem[]>([])
  const shared = { fields, problems }
  /** Selects the crawl type that matches the sitemap check boxes, because the type would override them. */
  const matchType = () => {
    const { useSitemap, sitemapOnly } = fields.value
    const found = types.value.find(
      ({ declaration }) =>
        declaration.sitemapOnly === sitemapOnly && declaration.useSitemap === (useSitemap || sitemapOnly),
    )
    if (found !== undefined) chooseType(fields, found)
  }

  const showProblems = (newProblems: FieldProblems) => {
    problems.value = newProblems
    requestAnimationFrame(() => {
      const first = form.current?.querySelector<HTMLElement>('[aria-invalid=true]')
      // Moves the focus to the invalid field, which may be inside closed details, so that screen readers announce the error.
      first?.closest('details')?.setAttribute('open', '')
      first?.focus()
    })
  }

  const start = async (event: Event) => {
    event.preventDefault()
    refusal.value = null
    isQueued.value = false
    showProblems(checkFields(fields.value))
    if (Object.keys(problems.value).length > 0) return
    isBusy.value = true
    const answer = await startCrawl(fields.value)
    isBusy.value = false
    if ('refusal' in answer) {
      const field = fieldOf(answer.refusal)
      if (field === undefined) refusal.value = answer.refusal
      // The message appears at the field, so its prefix with the field name is redundant.
      else showProblems({ [field]: answer.refusal.message.replace(`body ${answer.refusal.field}: `, '') })
      return
    }
    fields.value = { ...fields.value, startUrl: '', force: false }
    isQueued.value = answer.value.stage === 'queued'
    await readJobs()
  }

  return (
    <form class="panel start" ref={form} noValidate onSubmit={(event) => void start(event)} aria-label="Start a crawl">
      <div class="start-line">
        <TextField
          {...shared}
          name="startUrl"
          label="Start a crawl at"
          inputMode="url"
          placeholder="https://example.com/docs/"
          size="wide"
        />
        <button type="submit" class="primary" disabled={isBusy.value}>
          {isBusy.value ? 'Starting' : 'Start crawl'}
        </button>
      </div>
      <details class="advanced">
        <summary>Options</summary>
        <div class="start-row">
          <TypeField {...shared} types={types} />
          <Field {...shared} name="scope" label="Scope">
            {(props) => (
              <select {...props} value={fields.value.scope}>
                <Options of={Object.entries(REACH_WORDS)} />
              </select>
            )}
          </Field>
          <TextField {...shared} name="depth" label="Link depth" inputMode="numeric" placeholder="any" />
          <TextField {...shared} name="maxPages" label="Page limit" inputMode="numeric" placeholder="none" />
        </div>
        {isPlanned(fields.value) ? <PlanFields {...shared} /> : null}
        <div class="start-row">
          <CheckField {...shared} name="useSitemap" label="Read sitemaps" onChange={matchType} />
          <CheckField {...shared} name="sitemapOnly" label="Sitemap only" onChange={matchType} />
          <CheckField {...shared} name="allowQueryUrls" label="Keep tracking parameters" />
          <CheckField {...shared} name="isComplete" label="Request every page, even if it is fresh" />
          <CheckField {...shared} name="slow" label="Slow: at least one second between two requests to a host" />
        </div>
        <div class="start-row">
          <Field {...shared} name="render" label="Read pages" size="short">
            {(props) => (
              <select {...props} value={fields.value.render}>
                <option value="">Automatic</option>
                <Options of={Object.entries(RENDER_WORDS)} />
              </select>
            )}
          </Field>
        </div>
        <div class="start-row">
          <TextField
            {...shared}
            name="refetchArticleIfOlderThan"
            label="Read articles again after"
            placeholder="as they change"
          />
          <TextField
            {...shared}
            name="refetchHubIfOlderThan"
            label="Read hubs again after"
            placeholder="as they change"
          />
          <TextField
            {...shared}
            name="concurrency"
            label="Requests at once"
            inputMode="numeric"
            placeholder="default"
          />
          <TextField
            {...shared}
            name="requestTimeoutMs"
            label="Timeout in ms"
            inputMode="numeric"
            placeholder="default"
          />
        </div>
        <p class="small start-foot">
          <a href="#/sources?add=1">Add with a name, a version or patterns</a>
        </p>
      </details>
      {isQueued.value && liveJobs.value.some(({ item }) => item.value.status === 'queued') ? (
        <output class="small">Other crawls are running; this one is queued.</output>
      ) : null}
      <RefusalNote refusal={refusal.value} showsId />
      {refusal.value?.code === 'CRAWL_UNPREPARED' ? (
        <MissingMilestones
          host={URL.parse(readUrl(fields.value.startUrl) ?? '')?.host ?? ''}
          onForce={() => {
            fields.value = { ...fields.value, force: true }
            form.current?.requestSubmit()
          }}
        />
      ) : null}
    </form>
  )
}

/** Starts a crawl. The server does not check a queued crawl in advance, so a crawl of the history is first sent without `queue`. */
async function startCrawl(fields: CrawlFields): Promise<Answer<{ readonly stage: string }>> {
  const isChecked = fields.crawlType === 'history' && !fields.force
  const answer = await send<{ readonly stage: string }>('/api/crawl', writeCrawlBody(fields, !isChecked))
  const isFull = isChecked && 'refusal' in answer && answer.refusal.code === 'JOBS_FULL'
  return isFull ? send('/api/crawl', writeCrawlBody(fields, true)) : answer
}

/** The crawl types that the server offers. Choosing one sets the sitemap check boxes. */
function TypeField({
  fields,
  problems,
  types,
}: SharedFields & { readonly types: Signal<readonly CrawlTypeItem[]> }): JSX.Element {
  const choose = (typeName: string) => {
    const found = types.value.find(({ name }) => name === typeName)
    if (found !== undefined) chooseType(fields, found)
  }
  useEffect(() => {
    void request<CrawlTypeList>('/api/crawl-types').then((answer) => {
      if (!('value' in answer)) return
      types.value = answer.value.items
      choose(fields.value.crawlType)
    })
  }, [])
  const chosen = types.value.find(({ name }) => name === fields.value.crawlType)
  return (
    <Field
      fields={fields}
      problems={problems}
      name="crawlType"
      label="Crawl type"
      note={chosen?.description ?? ''}
      size="middle"
    >
      {({ onInput: _, ...props }) => (
        <select {...props} value={fields.value.crawlType} onInput={(event) => choose(event.currentTarget.value)}>
          <Options of={types.value.map(({ name }) => [name, labelOfCode(name)])} />
        </select>
      )}
    </Field>
  )
}

function chooseType(fields: Signal<CrawlFields>, { name, declaration }: CrawlTypeItem): void {
  const { useSitemap = true, sitemapOnly = false } = declaration
  fields.value = { ...fields.value, crawlType: name, useSitemap, sitemapOnly }
}

/** Returns the form field that the error is about, if any. */
function fieldOf({ field, code }: Refusal): keyof CrawlFields | undefined {
  // The form has only one address field.
  if (code === 'URL_INVALID') return 'startUrl'
  const name = field === 'preferCache' ? 'isComplete' : field
  return FIELD_NAMES.find((fieldName) => fieldName === name)
}

const FIELD_NAMES = Object.keys(DEFAULT_FIELDS) as (keyof CrawlFields)[]
