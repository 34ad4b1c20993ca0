// The service of the stack: one instance on an embedded database, or several on Postgres with NATS between them, behind one port.
import { freePort } from '../fixtures/network/free-port.ts';
import { NatsServer } from './nats.ts';
import { Program, type ProgramSpec } from './program.ts';
import { startRoundRobin } from './round-robin.ts';

interface InstancesOptions {
  /** Port of the API; 0: a free one. */
  port: number;
  instances: number;
  databaseUrl: string | undefined;
  dataDir: string;
}

interface Instances {
  programs: Record<string, Program>;
  /** URL of all instances together. */
  baseUrl: string;
  /** URL of each one. */
  baseUrls: string[];
  databaseUrl: string | undefined;
  /** Other processes, by name. */
  pids: Record<string, number>;
}

/** Starts them. `onStart` gets what stops each part. */
export async function startInstances(
  options: InstancesOptions,
  specOf: (name: string, env: Record<string, string>) => ProgramSpec,
  onStart: (stop: () => Promise<void>) => void,
): Promise<Instances> {
  const { databaseUrl, port } = options;
  if (options.instances > 1) return startSeveral(options, specOf, onStart);
  const program = new Program(
    specOf('control-plane', { PORT: String(port), DATABASE_URL: databaseUrl ?? '' }),
  );
  onStart(() => program.stop());
  const baseUrl = String((await program.start())['base_url']);
  // A program that is started again must be found where it was.
  program.setEnv({ PORT: new URL(baseUrl).port });
  return { programs: { 'control-plane': program }, baseUrl, baseUrls: [baseUrl], databaseUrl, pids: {} };
}

async function startSeveral(
  { port, instances, dataDir, ...options }: InstancesOptions,
  specOf: (name: string, env: Record<string, string>) => ProgramSpec,
  onStart: (stop: () => Promise<void>) => void,
): Promise<Instances> {
  const nats = await NatsServer.start();
  onStart(() => nats.kill());
  const pids: Record<string, number> = { nats: nats.pid };
  let { databaseUrl } = options;
  if (databaseUrl === undefined) {
    // Beside the data: where this runs as root, the server runs as another user, who may not enter there.
    const folder = `${dataDir}-postgres`;
    const { pidOfPostgres, startPostgresServer, stopPostgresServer } = await importPostgres();
    const { server, url } = await startPostgresServer(folder);
    onStart(() => stopPostgresServer(server, folder));
    databaseUrl = url;
    pids['postgres'] = pidOfPostgres(folder);
  }
  const ports: number[] = [];
  while (ports.length < instances) ports.push(await freePort());
  const proxy = await startRoundRobin(port, ports);
  onStart(() => proxy.stop());
  const baseUrl = `http://127.0.0.1:${proxy.port}`;
  const programs: Record<string, Program> = {};
  const baseUrls: string[] = [];
  for (const [index, own] of ports.entries()) {
    const name = `control-plane-${index + 1}`;
    const ownUrl = `http://127.0.0.1:${own}`;
    const program = new Program(
      specOf(name, {
        PORT: String(own),
        DATABASE_URL: databaseUrl,
        NATS_URL: nats.url,
        PUBLIC_URL: baseUrl,
        MEDIA_BASE_URL: ownUrl,
      }),
    );
    onStart(() => program.stop());
    await program.start();
    programs[name] = program;
    baseUrls.push(ownUrl);
  }
  return { programs, baseUrl, baseUrls, databaseUrl, pids };
}

/** The package ends the process at any signal and at its exit: here, the stack stops its programs first. */
async function importPostgres(): Promise<typeof import('./postgres.ts')> {
  const events = ['SIGINT', 'SIGTERM', 'SIGHUP', 'exit', 'beforeExit', 'message'];
  const before = new Set(events.flatMap((event) => process.rawListeners(event)));
  const postgres = await import('./postgres.ts');
  for (const event of events)
    for (const listener of process.rawListeners(event))
      if (!before.has(listener)) process.off(event, listener as () => void);
  return postgres;
}
