import { afterEach } from 'vitest'
import { closeAll } from './close-later.ts'

// This hook is registered for each test file. Files that share a process load a module only once, so hooks of a module would apply only to
// the first file.
afterEach(closeAll)
