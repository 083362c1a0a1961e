import type { Api, ApiDeps } from './api.ts'
import { registerDoctor } from './routes/doctor.ts'
import { registerEvents } from './routes/events.ts'
import { registerHealth } from './routes/health.ts'
import { registerInfo } from './routes/info.ts'
import { registerJobs } from './routes/jobs.ts'
import { registerLogs } from './routes/logs.ts'
import { registerPackages } from './routes/packages.ts'
import { registerPrompts } from './routes/prompts.ts'
import { registerResources } from './routes/resources.ts'
import { registerSchemas } from './routes/schemas.ts'
import { registerSearch } from './routes/search.ts'
import { registerStats } from './routes/stats.ts'
import { registerTools } from './routes/tools.ts'
import { registerValidate } from './routes/validate.ts'

/** Every route but the two that describe the others, one file a noun. */
const all = [
  registerHealth,
  registerInfo,
  registerPackages,
  registerLogs,
  registerStats,
  registerJobs,
  registerTools,
  registerResources,
  registerPrompts,
  registerEvents,
  registerSearch,
  registerDoctor,
  registerValidate,
  registerSchemas,
]

export function registerRoutes(app: Api, deps: ApiDeps): void {
  for (const register of all) register(app, deps)
}
