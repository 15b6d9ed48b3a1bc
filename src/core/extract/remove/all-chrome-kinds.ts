import { ADVERTISEMENTS, NEWSLETTERS, NOTICES } from './banners.ts'
import type { ChromeKind } from './chrome-kind.ts'
import { CONTROLS, FEEDBACK } from './forms.ts'
import { FRAME } from './frame.ts'
import { BREADCRUMBS, NAVIGATION, PAGERS, TABLE_OF_CONTENTS } from './navigation.ts'
import { RELATED } from './related/related.ts'
import { SHARING } from './sharing.ts'

/** All kinds of chrome, for any kind of page. If two apply, the later one gives the reason. */
export const CHROME_KINDS: readonly ChromeKind[] = [
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
  TABLE_OF_CONTENTS,
]
