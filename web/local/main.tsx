import { connectWork } from './work/connect.ts'
;(globalThis as any).work = await connectWork()
