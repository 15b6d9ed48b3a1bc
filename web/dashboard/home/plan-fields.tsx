import type { JSX } from 'preact'
import { Options } from '../../shared/options.tsx'
import { CheckField, Field, type SharedFields, TextField } from './fields.tsx'

/** Labels for the verbosity of the planner. */
const VERBOSITIES = [
  ['', 'main steps'],
  ['0', 'nothing'],
  ['2', 'main steps and patterns'],
  ['3', 'everything'],
] as const

/** The fields that apply only to a planned crawl. */
export function PlanFields(shared: SharedFields): JSX.Element {
  const { fields } = shared
  return (
    <fieldset class="plan-fields">
      <legend>Plan</legend>
      <div class="start-row">
        <TextField
          {...shared}
          name="hubMaxPages"
          label="Pages per hub"
          note="Maximum number of pages from one hub."
          inputMode="numeric"
          placeholder="all"
        />
        <TextField
          {...shared}
          name="hubMaxDays"
          label="Days back"
          note="Addresses with an older date are left out."
          inputMode="numeric"
          placeholder="all"
        />
        <TextField
          {...shared}
          name="intMaxSeeds"
          label="Guess limit"
          note="Maximum number of guessed hub addresses."
          inputMode="numeric"
          placeholder="500"
        />
        <TextField
          {...shared}
          name="intTargetHosts"
          label="Only these hosts"
          note="Endings of host names, separated by commas; other hosts get no plan."
          placeholder="any"
        />
        <Field
          {...shared}
          name="plannerVerbosity"
          label="Log level"
          note="How much the planner writes to the log below."
        >
          {(props) => (
            <select {...props} value={fields.value.plannerVerbosity}>
              <Options of={VERBOSITIES} />
            </select>
          )}
        </Field>
      </div>
      {fields.value.crawlType === 'history' ? (
        <CheckField {...shared} name="force" label="Start even if too little is known about the site" />
      ) : null}
    </fieldset>
  )
}
