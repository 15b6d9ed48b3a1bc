import { afterEach } from 'vitest'
import { closeAll } from './close-later.ts'

// Registered for each file: those that share a process load what they import once, and hooks of a module would be those of the first.
afterEach(closeAll)
