import { afterEach } from 'vitest'
import { closeAll } from './close-later.ts'

// Most tests are not about meaning, and each program that embeds loads the model.
process.env['PHAROS_EMBED'] ??= 'false'

// Registered for each file: those that share a process load what they import once, and hooks of a module would be those of the first.
afterEach(closeAll)
