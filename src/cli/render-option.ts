import type { Command } from 'commander'
import { RENDERINGS, type Rendering } from '../library/source.ts'
import { oneOf } from './options.ts'

/** The flag that selects how pages are rendered. */
export interface RenderFlags {
  readonly render?: Rendering
}

/** Adds the flag; `note` describes the default. */
export function addRenderOption(command: Command, note: string): Command {
  const what = 'how pages are read: http as they come, auto in a browser where they need one, chromium always in one'
  return command.option('--render <how>', `${what}, crawl4ai by that service (${note})`, oneOf('--render', RENDERINGS))
}

/** The rendering that was given, as an option; empty if none was. */
export function renderOf({ render }: RenderFlags): RenderFlags {
  return render === undefined ? {} : { render }
}
