/** What went wrong between this program and quarry serve. The message says what to do. */
export class ServiceError extends Error {
  override name = 'ServiceError';
}

/** No service listens at the socket, or at the address. */
export class NotRunningError extends ServiceError {
  override name = 'NotRunningError';

  constructor(where: string, why: string, cause?: unknown) {
    super(`no quarry serve runs: start one (${where}: ${why})`, { cause });
  }
}

/** The socket, or its folder, is not what quarry serve makes: another user may be behind it. */
export class UnsafeSocketError extends ServiceError {
  override name = 'UnsafeSocketError';
}

/** What answers at an address has another certificate than the service that this device was paired with. */
export class OtherCertificateError extends ServiceError {
  override name = 'OtherCertificateError';

  constructor(address: string) {
    super(`what answers at ${address} has another certificate than the quarry serve that this device was paired with: if that was set up anew, pair again, otherwise somebody is in between`);
  }
}

/** A service does not take this program as its device: the code is wrong, or the device was revoked. So it is where whoever answers is not the service. */
export class PairingError extends ServiceError {
  override name = 'PairingError';
}

/** The service speaks another version of the protocol. */
export class OtherProtocolError extends ServiceError {
  override name = 'OtherProtocolError';
  /** The protocol of the service, and of this client. */
  readonly service: number;
  readonly client: number;
  /** The version and the number of the service's process. */
  readonly version: string;
  readonly process: number;

  constructor(message: string, data: { service: number; client: number; version: string; process: number }) {
    super(message);
    this.service = data.service;
    this.client = data.client;
    this.version = data.version;
    this.process = data.process;
  }
}

/** The service answered a request with an error. The connection is still good, unless the request was hello. */
export class RequestError extends ServiceError {
  override name = 'RequestError';
  /** The code of JSON-RPC. */
  readonly code: number;
  readonly data: unknown;

  constructor(method: string, code: number, message: string, data: unknown) {
    super(`${method}: ${message}`);
    this.code = code;
    this.data = data;
  }
}

/** The connection has ended, and with it each request that was under way. */
export class ConnectionError extends ServiceError {
  override name = 'ConnectionError';
}
