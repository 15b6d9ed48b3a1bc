import type { JSX } from 'preact'
import { CheckField, Field, type SharedFields, TextField } from './fields.tsx'

/** Labels for the verbosity of the planner. */
const VERBOSITIES = [
  ['', 'the main steps'],
  ['0', 'nothing'],
  ['2', 'patterns too'],
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
          note="Most that are taken from what one hub lists."
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
          label="Most guesses"
          note="Hubs that are supposed and tried."
          inputMode="numeric"
          placeholder="500"
        />
        <TextField
          {...shared}
          name="intTargetHosts"
          label="Only these hosts"
          note="Ends of names, with commas; others get no plan."
          placeholder="any"
        />
        <Field {...shared} name="plannerVerbosity" label="The log tells" note="What the plan thinks, in the log below.">
          {(props) => (
            <select {...props} value={fields.value.plannerVerbosity}>
              {VERBOSITIES.map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      {fields.value.crawlType === 'history' ? (
        <CheckField {...shared} name="force" label="Also where not enough is known of the site" />
      ) : null}
    </fieldset>
  )
}
