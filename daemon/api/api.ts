import type {} from '@fastify/swagger'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance, RawReplyDefaultExpression, RawRequestDefaultExpression, RawServerDefault } from 'fastify'
import type { PackageStore } from '../../registry/store/packageStore.ts'
import type { Clock, Logger, OperationContext } from '../core/ports.ts'
import type { EventBus } from '../events/eventBus.ts'
import type { Installer } from '../install/installer.ts'
import type { JobRunner } from '../jobs/jobRunner.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { McpService } from '../mcp/mcpService.ts'
import type { Doctor, Info, SearchHit } from './schemas/info.ts'

/** Fastify whose handlers are typed by their routes' schemas. */
export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** What the routes call. Each is one call: nothing is decided here. */
export interface ApiDeps {
  readonly version: string
  readonly token: string
  /** Largest request body, bytes. */
  readonly bodyLimit: number
  readonly clock: Clock
  readonly log: Logger
  /** Aborted when the daemon closes: streams end. */
  readonly closing: AbortSignal
  readonly lifecycle: Pick<Lifecycle, 'list' | 'get' | 'start' | 'stop' | 'restart' | 'logs' | 'stats'>
  readonly installer: Pick<Installer, 'install' | 'installLocked' | 'uninstall' | 'keepsData'>
  readonly mcp: McpService
  readonly jobs: JobRunner
  readonly events: EventBus
  readonly store: Pick<PackageStore, 'verify'>
  readonly info: () => Promise<Info>
  readonly diagnose: () => Promise<Doctor>
  readonly repair: (context: OperationContext) => Promise<readonly string[]>
  readonly search: (
    text: string,
    signal: AbortSignal,
  ) => Promise<{
    readonly results: readonly SearchHit[]
    /** Registries that could not be searched, or only in part. */
    readonly failures: readonly { readonly registry: string; readonly message: string }[]
  }>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Served without a token. */
    public?: boolean
    /** May answer with server-sent events. */
    streams?: boolean
  }
}
