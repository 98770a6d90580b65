import { existsSync } from 'node:fs'
import { basename, relative } from 'node:path'
import { DEFAULT_PORT } from '../../options/schema.ts'
import { ReleaseLinks } from '../../releases/release-links.ts'
import { isConfigFile } from '../config/config-file.ts'
import { fileSettings } from '../config/start-settings.ts'
import { parseCommandLine } from '../command-line.ts'
import { print } from '../print.ts'
import { UsageError } from '../usage-error.ts'

/** An app to be deployed. */
export interface Deployment {
  /** Path of the app's module, relative to `directory`. `undefined` where a configuration file names it. */
  readonly app: string | undefined
  /** Directory of the project on the host. */
  readonly directory: string
  /** Name of the unit, the image and the Kubernetes objects. */
  readonly name: string
  readonly port: number
  /** Flags that the command needs beside those of each deployment. */
  readonly flags?: readonly string[]
  /** Times of a configuration file, in milliseconds: the flags of a printed file would override them. */
  readonly shutdownDelay?: number | undefined
  readonly drainTimeout?: number | undefined
}

/** Time that the server stays open after SIGTERM, while load balancers take it out, in milliseconds. */
const SHUTDOWN_DELAY = 5000
/** Time for requests in flight, in milliseconds. */
const DRAIN_TIMEOUT = 20_000
const ADMIN_PORT = 3001

const TEMPLATES: Readonly<Record<string, (deployment: Deployment) => string>> = {
  systemd: systemdService,
  'systemd-socket': systemdSocket,
  docker: dockerfile,
  k8s: kubernetes,
}

/** Files that `init` prints. */
export const INIT_KINDS: readonly string[] = Object.keys(TEMPLATES)
/** Kinds that contain the command line of the server. */
const STARTS_APP = ['systemd', 'docker']

const HELP = `Usage: clustered-server init ${INIT_KINDS.join('|')} [<app>]

Prints a file for the deployment of the project in the working directory.

Options:
  --name <name>
      Name of the unit, the image and the Kubernetes objects.
      Default: that of the configuration file, or of the directory
  --port <port>
      Port of the server. Default: that of the configuration file, or 3000
  --only <name>, --env <name>
      App and environment of an ecosystem file.
  -h, --help
      Show this text.

Exit code: 0 when it is done; 2 for wrong usage.
`

interface InitValues {
  readonly name?: string
  readonly port?: string
  readonly only?: string
  readonly env?: string
  readonly help?: boolean
}

/** `clustered-server init`: prints a file for a deployment. */
export async function init(args: readonly string[]): Promise<void> {
  const options = Object.fromEntries(['name', 'port', 'only', 'env'].map((flag) => [flag, { type: 'string' as const }]))
  const { values, positionals } = parseCommandLine(args, {
    command: 'clustered-server init',
    options: { ...options, help: { type: 'boolean', short: 'h' } },
  })
  print((values as InitValues).help ? HELP : await initFile(positionals, values))
}

/**
 * The file that `clustered-server init` prints, for the project in the working directory.
 *
 * @throws UsageError
 */
async function initFile(positionals: readonly string[], { name, port, only, env }: InitValues): Promise<string> {
  const [kind, app, ...more] = positionals
  if (more.length > 0) throw new UsageError(`expected one app, got ${more.length + 1}: see --help`)
  assertKind(kind)
  const resolved = process.cwd()
  // A unit with the path of a release would never start another one.
  const directory = new ReleaseLinks(resolved).through(resolved)
  const file = await fileSettings({ positional: app, config: undefined, only, env })
  if (STARTS_APP.includes(kind) && (app ?? file.app) === undefined)
    throw new UsageError(`expected an app, as in: clustered-server init ${kind} app.js`)
  const path = app === undefined || isConfigFile(app) ? file.app && relative('', file.app) : app
  // A build may not have made it yet.
  if (path !== undefined && !existsSync(path)) process.stderr.write(`clustered-server: there is no file ${path} yet\n`)
  const ofFile = typeof file.options.port === 'number' ? file.options.port : undefined
  const flags = [
    ...(only === undefined ? [] : ['--only', only]),
    ...(env === undefined ? [] : ['--env', env]),
    // The port of a file counts more than the variable PORT.
    ...(port === undefined || ofFile === undefined ? [] : ['--port', port]),
  ]
  return initText(kind, {
    ...{ app, directory, flags },
    shutdownDelay: file.options.shutdownDelay,
    drainTimeout: file.options.drainTimeout,
    name: name ?? nameOf(file.options.name ?? basename(directory)),
    port: Number(port ?? ofFile ?? DEFAULT_PORT),
  })
}

function assertKind(kind: string | undefined): asserts kind is string {
  if (kind === undefined || !INIT_KINDS.includes(kind))
    throw new UsageError(`expected init ${INIT_KINDS.join('|')}, got ${kind ?? 'none'}`)
}

/**
 * The text of a deployment's file.
 *
 * @throws UsageError for an unknown kind, or a name that Kubernetes would reject
 */
export function initText(kind: string | undefined, deployment: Deployment): string {
  assertKind(kind)
  const { name, port } = deployment
  if (!/^(?!(?:true|false|null)$)[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(name))
    throw new UsageError(
      `expected a name of lower-case letters, digits and hyphens, got ${JSON.stringify(name)}: see --name`,
    )
  if (!Number.isInteger(port) || port < 1 || port > 65_535 || port === ADMIN_PORT)
    throw new UsageError(`expected --port to be a port other than ${ADMIN_PORT}, got ${port}`)
  return TEMPLATES[kind]!(deployment)
}

/** A name that Kubernetes takes, for a project with any name. */
export function nameOf(project: string): string {
  const name = project
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^[-0-9]+/, '')
    .slice(0, 40)
    .replace(/-$/, '')
  return name === '' ? 'app' : name
}

/** Time that the sender of SIGTERM has to wait, in seconds: the times of the server, and ten seconds for the app to close. */
function stopTimeoutOf({ shutdownDelay = SHUTDOWN_DELAY, drainTimeout = DRAIN_TIMEOUT }: Deployment): number {
  return Math.ceil((shutdownDelay + drainTimeout) / 1000) + 10
}

/** Arguments of the command, beside the app. */
function argumentsFor(deployment: Deployment, adminHost: string): string[] {
  const { app, flags = [], shutdownDelay = SHUTDOWN_DELAY, drainTimeout = DRAIN_TIMEOUT } = deployment
  const timeouts = ['--shutdown-delay', String(shutdownDelay), '--drain-timeout', String(drainTimeout)]
  return [
    ...(app === undefined ? [] : [app]),
    ...flags,
    '--admin-port',
    String(ADMIN_PORT),
    '--admin-host',
    adminHost,
    ...timeouts,
  ]
}

function systemdService(deployment: Deployment): string {
  const { directory, name, port } = deployment
  const command = [`${directory}/node_modules/.bin/clustered-server`, ...argumentsFor(deployment, '127.0.0.1')]
  return `# /etc/systemd/system/${name}.service
[Unit]
Description=${name}
After=network.target
# The socket unit is optional: \`clustered-server init systemd-socket\`.
Wants=${name}.socket

[Service]
Type=notify
# The server reports to systemd by systemd-notify, a process of its own.
NotifyAccess=all
WorkingDirectory=${escaped(directory)}
Environment=NODE_ENV=production PORT=${port}
# Runs node from the PATH of systemd: /usr/local/bin or /usr/bin.
ExecStart=${command.map(word).join(' ')}
ExecReload=/bin/kill -HUP $MAINPID
# SIGTERM goes to the primary, which stops its workers. systemd kills the rest after the timeout.
KillMode=mixed
TimeoutStopSec=${stopTimeoutOf(deployment)}
WatchdogSec=20
Restart=on-failure
DynamicUser=yes

[Install]
WantedBy=multi-user.target
`
}

function systemdSocket({ name, port }: Deployment): string {
  return `# /etc/systemd/system/${name}.socket
[Unit]
Description=Port of ${name}

[Socket]
ListenStream=${port}
# Connections that arrive during a restart wait here.
Backlog=511

[Install]
WantedBy=sockets.target
`
}

/** A value of a unit: systemd expands percent signs. */
function escaped(text: string): string {
  return text.replaceAll('%', '%%')
}

/** A word of a command line in a unit. */
function word(text: string): string {
  const plain = escaped(text).replaceAll('$', '$$$$')
  return /^[\w./:@%+$=-]+$/.test(plain) ? plain : JSON.stringify(plain)
}

function dockerfile(deployment: Deployment): string {
  const command = ['node_modules/.bin/clustered-server', ...argumentsFor(deployment, '0.0.0.0')]
  return `# docker build -t ${deployment.name} . && docker run --init --stop-timeout ${stopTimeoutOf(deployment)} -p ${deployment.port}:${deployment.port} ${deployment.name}
FROM node:24-slim
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 PORT=${deployment.port}
COPY package*.json ./
RUN npm install --omit=dev && npm cache clean --force
COPY . .
USER node
EXPOSE ${deployment.port} ${ADMIN_PORT}
# A list runs without a shell, so that SIGTERM reaches the server.
CMD ${JSON.stringify(command).replaceAll(',', ', ')}
`
}

function kubernetes(deployment: Deployment): string {
  return [deploymentManifest, serviceManifest, autoscalerManifest, disruptionBudgetManifest]
    .map((manifest) => manifest(deployment))
    .join('---\n')
}

function deploymentManifest(deployment: Deployment): string {
  const { name, port } = deployment
  return `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  labels: { app: ${name} }
spec:
  selector:
    matchLabels: { app: ${name} }
  strategy:
    rollingUpdate:
      # A new pod is ready before an old one stops.
      maxSurge: 1
      maxUnavailable: 0
  template:
    metadata:
      labels: { app: ${name} }
    spec:
      # --shutdown-delay, --drain-timeout and ten seconds for the app to close.
      terminationGracePeriodSeconds: ${stopTimeoutOf(deployment)}
      # The pause container is process 1, and takes in orphaned processes.
      shareProcessNamespace: true
      containers:
        - name: app
          image: registry.example/${name}:1
          ports:
            - { name: http, containerPort: ${port} }
            - { name: admin, containerPort: ${ADMIN_PORT} }
          resources:
            requests: { cpu: '2', memory: 512Mi }
            # One worker per whole core of the limit. Their heaps share the memory.
            limits: { cpu: '2', memory: 512Mi }
          startupProbe:
            httpGet: { path: /ready, port: admin }
            periodSeconds: 1
            failureThreshold: 30
          readinessProbe:
            httpGet: { path: /ready, port: admin }
            periodSeconds: 1
            failureThreshold: 1
          livenessProbe:
            httpGet: { path: /live, port: admin }
            periodSeconds: 10
            timeoutSeconds: 5
`
}

function serviceManifest({ name }: Deployment): string {
  return `apiVersion: v1
kind: Service
metadata:
  name: ${name}
spec:
  selector: { app: ${name} }
  ports:
    - { name: http, port: 80, targetPort: http }
`
}

function autoscalerManifest({ name }: Deployment): string {
  return `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: ${name}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: ${name} }
  minReplicas: 2
  maxReplicas: 10
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: { type: Utilization, averageUtilization: 70 }
`
}

function disruptionBudgetManifest({ name }: Deployment): string {
  return `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: ${name}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: { app: ${name} }
`
}
