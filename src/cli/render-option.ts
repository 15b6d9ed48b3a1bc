import type { Command } from 'commander'
import { RENDERINGS, type Rendering } from '../library/source.ts'
import { oneOf } from './options.ts'

/** The flag that says how pages are read. */
export interface RenderFlags {
  readonly render?: Rendering
}

/** Adds it; `note` says what holds without it. */
export function addRenderOption(command: Command, note: string): Command {
  const what = 'how pages are read: http as they come, auto in a browser where they need one, chromium always in one'
  return command.option('--render <how>', `${what}, crawl4ai by that service (${note})`, oneOf('--render', RENDERINGS))
}

/** What was given, for whoever takes it as an option. */
export function renderOf({ render }: RenderFlags): RenderFlags {
  return render === undefined ? {} : { render }
}
