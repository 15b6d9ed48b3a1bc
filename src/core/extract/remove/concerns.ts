import { ADVERTISEMENTS, NEWSLETTERS, NOTICES } from './banners.ts'
import { CONTROLS, FEEDBACK } from './forms.ts'
import { FRAME } from './frame.ts'
import { BREADCRUMBS, CONTENTS, NAVIGATION, PAGERS } from './navigation.ts'
import { RELATED } from './related.ts'
import type { Chrome } from './rule.ts'
import { SHARING } from './sharing.ts'

/** All kinds of chrome, for any kind of page. If two apply, the later one gives the reason. */
export const CONCERNS: readonly Chrome[] = [
  FRAME,
  CONTROLS,
  FEEDBACK,
  RELATED,
  SHARING,
  NEWSLETTERS,
  ADVERTISEMENTS,
  NOTICES,
  NAVIGATION,
  PAGERS,
  BREADCRUMBS,
  CONTENTS,
]
