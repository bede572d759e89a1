// The public interface of svc for plugins, generated from src/plugin-api/index.ts by `npm run build -- --update`: do not edit.

import type { Interfaces } from '@oclif/core';
import type { Command } from '@oclif/core/command';
import type { Readable } from 'node:stream';

export * as Args from '@oclif/core/args';
export * as Flags from '@oclif/core/flags';

/** An authenticated client of a Kubernetes API server. */
export interface KubeClient {
    /** Its address and how it was found, for logs. */
    readonly server: string;
    readonly origin: string;
    /**
     * Resolves with the response's JSON, which is assumed to be a `T`.
     * @throws KubeError unless successful; the signal's reason when aborted
     */
    request<T>(request: KubeRequest): Promise<T>;
    /**
     * Resolves with the result of `use`, which reads the body as it arrives and must limit its length.
     * @throws KubeError unless successful in time; errors of `use`; the signal's reason when aborted
     */
    read<T>(request: KubeRequest, use: (body: AsyncIterable<Buffer>) => Promise<T>): Promise<T>;
    /**
     * The response body as it arrives, for watches and logs; the caller destroys it or aborts the signal.
     * @throws KubeError unless successful
     */
    stream(request: KubeRequest): Promise<Readable>;
    close(): void;
}
/** A request to the API server. */
export interface KubeRequest {
    /** Default: GET. */
    readonly method?: string;
    /** Encoded path from the API's root, without a query: `/api/v1/pods`. */
    readonly path: string;
    /** Undefined members are omitted. */
    readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
    /** Sent as JSON. */
    readonly body?: unknown;
    /** Type of the body; a patch names its kind. Default: `application/json`. */
    readonly contentType?: string;
    /** Default: `application/json`. */
    readonly accept?: string;
    readonly signal?: AbortSignal | undefined;
    /**
     * Whether this replica leads, checked immediately before sending; if false, throws KUBE_NOT_LEADING. Default: not
     * checked.
     */
    readonly leading?: () => boolean;
    /** Time for the whole response; for a stream, until it begins. Default: 30 s. */
    readonly timeoutMs?: number;
    /** Larger responses are rejected; for `request` only. Default: 64 MiB. */
    readonly maxBytes?: number;
}
/** A request to the key server's HTTP API. `path` is relative to `/v1/`, with encoded segments. */
export interface VaultRequest {
    readonly method: 'GET' | 'POST' | 'PUT' | 'LIST' | 'DELETE';
    readonly path: string;
    readonly body?: unknown;
    readonly signal?: AbortSignal;
}
export type ResolvedVaultSettings = Resolved<VaultSettings>;
/** Rules between the Vault settings, including that the files they name are readable. */
export declare const vaultRules: readonly Rule<Config>[];
/** How a component reaches the key server and logs in there; shared by proxy and wrapper. */
export declare const vaultSettings: {
    vaultAddr: {
        parse: (text: string) => URL;
        expects: string;
        helpValue?: string;
        admitsEmpty?: boolean;
        variable: string;
        flag: string;
        summary: string;
        required: true;
    };
    vaultToken: {
        parse: (text: string) => string;
        expects: string;
        helpValue?: string;
        admitsEmpty?: boolean;
        variable: string;
        summary: string;
        secret: true;
    };
    vaultTokenFile: {
        parse: (text: string) => string;
        expects: string;
        helpValue?: string;
        admitsEmpty?: boolean;
        variable: string;
        flag: string;
        summary: string;
    };
    vaultAuthMethod: {
        parse: (text: string) => "token" | "kubernetes";
        expects: string;
        helpValue?: string;
        admitsEmpty?: boolean;
        variable: string;
        flag: string;
        summary: string;
    };
    vaultAuthRole: {
        parse: (text: string) => string;
        expects: string;
        helpValue?: string;
        admitsEmpty?: boolean;
        variable: string;
        flag: string;
        summary: string;
    };
    vaultAuthMountPath: {
        parse: (text: string) => string;
        expects: string;
        helpValue?: string;
        admitsEmpty?: boolean;
        variable: string;
        flag: string;
        summary: string;
        fallback: string;
    };
    vaultSkipVerify: {
        parse: (text: string) => boolean;
        expects: string;
        helpValue?: string;
        admitsEmpty?: boolean;
        variable: string;
        summary: string;
        fallback: string;
    };
    vaultCaCert: {
        parse: (text: string) => string;
        expects: string;
        helpValue?: string;
        admitsEmpty?: boolean;
        variable: string;
        flag: string;
        summary: string;
    };
    vaultCaPath: {
        parse: (text: string) => string;
        expects: string;
        helpValue?: string;
        admitsEmpty?: boolean;
        variable: string;
        flag: string;
        summary: string;
    };
    vaultNamespace: {
        parse: (text: string) => string;
        expects: string;
        helpValue?: string;
        admitsEmpty?: boolean;
        variable: string;
        flag: string;
        summary: string;
    };
    serviceAccountTokenPath: {
        parse: (text: string) => string;
        expects: string;
        helpValue?: string;
        admitsEmpty?: boolean;
        variable: string;
        summary: string;
        fallback: string;
    };
    brokerAddr: {
        parse: (text: string) => URL;
        expects: string;
        helpValue?: string;
        admitsEmpty?: boolean;
        variable: string;
        flag: string;
        summary: string;
    };
    brokerTlsCert: {
        parse: (text: string) => string;
        expects: string;
        helpValue?: string;
        admitsEmpty?: boolean;
        variable: string;
        summary: string;
    };
    brokerTlsKey: {
        parse: (text: string) => string;
        expects: string;
        helpValue?: string;
        admitsEmpty?: boolean;
        variable: string;
        summary: string;
    };
    brokerTlsCa: {
        parse: (text: string) => string;
        expects: string;
        helpValue?: string;
        admitsEmpty?: boolean;
        variable: string;
        summary: string;
    };
};
/** Base of every svc command: prints errors with their next step to standard error, or as an object under `--json`. */
export declare abstract class BaseCommand extends Command {
    protected catch(error: Error): Promise<void>;
    protected statusOf({ exitStatus }: Failure): number;
    protected toErrorJson(error: unknown): object;
    private describe;
}
/**
 * oclif flags of declared settings, by flag name. They have no default and no variable: reading the configuration
 * chooses between flag, variable, file and default, and parses the text.
 */
export declare function flagsOf(settings: Settings, helpGroup?: string): FlagInput;
/**
 * A long-running part of svc. Built-in components live in src/plugins/<name>, others in installed plugins;
 * `svc run <name>` starts either.
 */
export interface Component<S extends Settings = Settings> {
    readonly name: string;
    /** The key `health`, a listen address or undefined, determines where health and metrics are served. */
    readonly settings: S;
    /**
     * Rules between settings: returns one error a line, beginning with the variable's name. Reading an invalid setting
     * throws; `applyRules` skips rules that do.
     */
    check?(config: Resolved<S>): readonly string[];
    /** Resolves when serving; aborting `signal` asks the component to drain and end. */
    start(config: Resolved<S>, deps: ComponentDeps, signal: AbortSignal): Promise<Running>;
}
/** Options from which `componentCommand` creates `svc run <component>`. */
export interface ComponentCommandOptions<S extends Settings> {
    readonly summary: string;
    readonly description?: string;
    readonly examples?: string[];
    /** The lightweight declaration that `--help` uses without loading the component. */
    readonly settings: S;
    /** Imports the component when it has to run. */
    readonly load: () => Promise<Component<S>>;
}
/** Dependencies that every component gets besides its configuration. */
export interface ComponentDeps {
    readonly log: Logger;
    readonly health: Health;
    readonly metrics: Metrics;
    readonly env: Readonly<Record<string, string | undefined>>;
}
/** A started component. */
export interface Running {
    /** Facts for the startup log line, such as `address`. */
    readonly facts: Readonly<Record<string, string>>;
    /** Resolves when the component has drained after its signal was aborted; rejects if the component failed. */
    readonly closed: Promise<void>;
    /** Replaces the content of `/metrics`, for a component that gathers metrics from several processes. */
    readonly expose?: Metrics['expose'];
}
export interface RunOptions {
    /** By flag name without dashes; `true` for a flag without a value. */
    readonly flags?: Readonly<Record<string, string | boolean | undefined>>;
    readonly env: Readonly<Record<string, string | undefined>>;
    /** `--config`; default: SVC_CONFIG. */
    readonly configFile?: string | undefined;
}
/**
 * Exit statuses of long-running components and commands, after sysexits(3).
 * Usage errors of oclif commands end with 2.
 */
export declare const exitStatus: {
    /** A failure without a status of its own. */
    readonly failure: 1;
    /** Wrong command line of a command that parses its own, such as the wrapper. */
    readonly usage: 64;
    /** A server or the node agent is unavailable. */
    readonly unavailable: 69;
    /** A defect of svc, or data that svc did not write. */
    readonly internal: 70;
    /** The system lacks what is needed, such as protected memory. */
    readonly system: 71;
    /** Permission denied, by a server or by the node agent. */
    readonly denied: 77;
    /** Invalid configuration; every error is listed at once. */
    readonly config: 78;
};
/** An error with a stable code, an exit status and a next step. Messages never carry secret values. */
export declare class SvcError extends Error {
    readonly name = "SvcError";
    readonly code: string;
    readonly exitStatus: number;
    readonly nextStep: string;
    readonly details: readonly string[];
    constructor(code: string, message: string, options: SvcErrorOptions);
}
export interface SvcErrorOptions {
    /** What the reader should do next, as a sentence. */
    nextStep: string;
    exitStatus?: number;
    /** Several findings reported together, one a line. */
    details?: readonly string[];
    cause?: unknown;
}
export interface Counter {
    inc(labels?: LabelValues, by?: number): void;
}
export interface Gauge {
    set(value: number, labels?: LabelValues): void;
    add(by: number, labels?: LabelValues): void;
    /** Stops exporting the value with these labels. */
    remove(labels: LabelValues): void;
}
/** Health conditions of a component, each with a reason that `/readyz` or `/healthz` shows. */
export interface Health {
    /** `/readyz` is 503 with the reasons while any condition is not ready. */
    notReady(condition: string, reason: string): void;
    ready(condition: string): void;
    /** Shown in the body of `/healthz`, which stays 200. */
    degraded(condition: string, reason: string): void;
    recovered(condition: string): void;
    /** `/healthz` is 503 while a condition is reported here; for a component that has not begun its work. */
    notAlive(condition: string, reason: string): void;
    alive(condition: string): void;
    /** Shown in the body of `/readyz`, which then also has `ready` and `reason`, for programs that depend on it. */
    fact(name: string, value: HealthFact): void;
    isReady(): boolean;
    snapshot(): HealthSnapshot;
}
export type HealthFact = string | number | boolean;
export interface Histogram {
    observe(value: number, labels?: LabelValues): void;
}
export type LabelValues = Readonly<Record<string, string>>;
/** Counters, gauges and histograms of a component, exposed on `/metrics`. Names follow the rules of Prometheus. */
export interface Metrics {
    counter(name: string, help: string, labels?: readonly string[]): Counter;
    gauge(name: string, help: string, labels?: readonly string[]): Gauge;
    /** Observes seconds or bytes; `buckets` are upper bounds. */
    histogram(name: string, help: string, buckets: readonly number[], labels?: readonly string[]): Histogram;
    /** Prometheus text exposition. */
    expose(): Promise<{
        contentType: string;
        body: string;
    }>;
}
/** Resolves when the signal is aborted, at once if it already is. */
export declare function untilAborted(signal: AbortSignal): Promise<void>;
export type LogFields = Readonly<Record<string, string | number | boolean | undefined | null | readonly string[]>>;
/**
 * Structured log on standard error, one JSON line for each event. `event` is a stable dotted name; fields are names and
 * numbers, never secret values.
 */
export interface Logger {
    debug(event: string, fields?: LogFields): void;
    info(event: string, fields?: LogFields): void;
    warn(event: string, fields?: LogFields & {
        error?: string;
    }): void;
    error(event: string, fields?: LogFields & {
        error?: string;
    }): void;
    child(fields: LogFields): Logger;
}
/**
 * Level of the API in `svc/plugin`. It is raised when something is removed or changes its meaning, so that plugins made
 * for another level are refused; additions leave it unchanged.
 */
export declare const apiLevel = 1;
/** Address of a listener. Without a host it listens on every interface; port 0 takes a free one. */
export interface ListenAddress {
    readonly host: string | undefined;
    readonly port: number;
}
/** `127.0.0.1:8190`, `localhost:8190`, `[::1]:8190`, `:8190`, `127.0.0.1:0`. */
export declare function listenAddress(): Parser<ListenAddress>;
/** Like `listenAddress`, but an empty text turns the listener off (undefined). */
export declare function listenAddressOrOff(): Parser<ListenAddress | undefined>;
/** Errors found by the rules. A rule that needs an invalid setting is skipped, so that no error is reported twice. */
export declare function applyRules<C>(config: C, rules: readonly Rule<C>[]): string[];
/** A rule across settings: returns an error that begins with the variable's name, or nothing. */
export type Rule<C> = (config: C) => string | undefined;
/** Exactly `true` or `false`, so that `False`, `0` or `no` are not mistaken for the opposite. */
export declare function boolean(): Parser<boolean>;
/** Bytes. */
export declare function byteSize(min?: number, max?: number): Parser<number>;
/** Milliseconds. The upper bound keeps the value valid for timers. */
export declare function duration(min?: number, max?: number): Parser<number>;
export declare function enumeration<const T extends string>(...allowed: readonly T[]): Parser<T>;
/**
 * An absolute http or https URL without user name, password, query or fragment. Credentials are rejected, because URLs
 * end up in logs.
 */
export declare function httpUrl(example: string): Parser<URL>;
export declare function integer(min: number, max: number): Parser<number>;
/** Comma-separated items without surrounding blanks; empty items are errors. */
export declare function list<T>(item: Parser<T>): Parser<readonly T[]>;
export declare function matching(shape: RegExp, expects: string): Parser<string>;
/** The parsing part of a setting, to be spread into a declaration. */
export type Parser<T> = Pick<Setting<T>, 'parse' | 'expects' | 'helpValue' | 'admitsEmpty'>;
/** A file or folder name, taken unchanged. */
export declare function path(expects?: string): Parser<string>;
/** Settings with a fallback or `required` always have a value; the others may be undefined. */
export type Resolved<S extends Settings> = {
    readonly [K in keyof S]: S[K] extends Setting<infer T> ? S[K] extends {
        fallback: string;
    } | {
        required: true;
    } ? T : T | undefined : never;
};
/** One configuration value of a component. Precedence: flag, variable, file (`--config`), default. */
export interface Setting<T> {
    /** Environment variable; also names the setting in messages. */
    readonly variable: string;
    /** Long flag without dashes; absent for values that must not appear on a command line. */
    readonly flag?: string;
    readonly summary: string;
    /** Turns the text into a value or throws SettingMistake. */
    readonly parse: (text: string) => T;
    /** What the value should be, as a phrase: "a Go duration such as 30s". */
    readonly expects: string;
    /** Placeholder in help and completion: `json|text` for a few choices, `<path>` for a file or folder. */
    readonly helpValue?: string;
    /** Text to parse if nothing is given. Without it the setting is optional (undefined). */
    readonly fallback?: string;
    readonly required?: boolean;
    /** Never shown, not even in part. */
    readonly secret?: boolean;
    /** A flag without a value. */
    readonly switch?: boolean;
    /** The empty text is a valid value; for other settings an empty variable or file entry counts as not given. */
    readonly admitsEmpty?: boolean;
}
/** Thrown by a parser: states what the value should be, never what it was, since that may be a secret. */
export declare class SettingMistake extends Error {
    readonly name = "SettingMistake";
}
export type Settings = Readonly<Record<string, Setting<any>>>;
export declare function text(expects?: string): Parser<string>;
/**
 * The command that runs a component, to be the default export of `commands/run/<name>`. It has a flag for each setting,
 * the common flags and `--config`, and ends with the component's exit status.
 */
export declare const componentCommand: <S extends Settings>(options: ComponentCommandOptions<S>) => Command.Class;
/**
 * A client of the API server from `KUBECONFIG`, else of the pod that this runs in, else from `~/.kube/config`.
 * @returns undefined if there is none of these
 * @throws SvcError (exit 78) if a kubeconfig cannot be used
 */
export declare function connectCluster(env: Readonly<Record<string, string | undefined>>): Promise<KubeClient | undefined>;
/**
 * Resolves after the first attempt to log in; after a failure, attempts continue in the background.
 * @param settings resolved `vaultSettings` that passed `vaultRules`
 * @throws SvcError (exit 78) if TLS files cannot be used
 */
export declare function connectVault(settings: ResolvedVaultSettings, { log, health }?: VaultConnectionOptions): Promise<VaultConnection>;
/**
 * The settings of a command that is not a component, read as `svc run` reads a component's: flag before variable before
 * file before default. Secret values are redacted from every log from then on.
 * @param owner the command's name, which is also its section of the file, its settings, and rules across settings
 * @throws SvcError CONFIG_INVALID (exit 78) that lists every error
 */
export declare function readSettings<S extends Settings>(owner: Pick<Component<S>, 'name' | 'settings' | 'check'>, options: RunOptions): Promise<Resolved<S>>;
/** A login at the key server; the token is renewed or replaced until `close`. */
export interface VaultConnection {
    /**
     * Retries requests that may be repeated, for at most 8 s.
     * @returns the parsed body of a 2xx response
     * @throws SvcError if the server refuses or cannot be reached; the signal's reason when aborted
     */
    request(request: VaultRequest): Promise<unknown>;
    close(): Promise<void>;
}
export interface VaultConnectionOptions {
    /** Default: warnings as text on standard error. */
    readonly log?: Logger;
    /** Its condition `vault` shows whether there is a valid token. */
    readonly health?: Health;
}

type VaultSettings = typeof vaultSettings;
type Config = ResolvedVaultSettings;

/** An error as shown to people and scripts. Never contains argv, a stack or the error's own fields. */
interface Failure {
    readonly code: string;
    readonly message: string;
    readonly details: readonly string[];
    readonly nextStep: string;
    readonly exitStatus: number;
}
type FlagInput = Interfaces.FlagInput;

interface HealthSnapshot {
    readonly status: 'ok' | 'degraded';
    readonly ready: boolean;
    readonly notAlive: Readonly<Record<string, string>>;
    readonly notReady: Readonly<Record<string, string>>;
    readonly degraded: Readonly<Record<string, string>>;
    readonly facts: Readonly<Record<string, HealthFact>>;
}
export {};
