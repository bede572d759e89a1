import { createServer } from 'node:http';
import { listen } from '../../support/loopback.ts';

export interface CloudCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

/** Stand-ins of a cloud's credential endpoints on one loopback port. */
export interface CloudEndpoints {
  readonly url: string;
  readonly port: number;
  /** Takes the requests since the last call, as `METHOD /path action`. */
  takeRequests(): string[];
  stop(): Promise<void>;
}

export const identityToken = 'planted-identity-token';
export const containerToken = 'planted-container-token';
export const ssoToken = 'planted-sso-token';
const metadataToken = 'planted-metadata-token';

type Header = (name: string) => string | undefined;
type EndpointReply = readonly [status: number, body: string];

/** Each gives out `credentials` to those who show what it asks for, and an hour of life. */
export async function startCloudEndpoints(credentials: CloudCredentials): Promise<CloudEndpoints> {
  const requests: string[] = [];
  const reply = replies(credentials);
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const path = request.url ?? '';
    const action = new URLSearchParams(body).get('Action') ?? '';
    requests.push(`${request.method} ${path} ${action}`.trim());
    const header: Header = (name) => request.headers[name] as string | undefined;
    const [status, text] = reply(
      `${request.method} ${path.split('?')[0]}`,
      header,
      new URLSearchParams(body),
    );
    response.writeHead(status, { 'content-length': Buffer.byteLength(text) }).end(text);
  });
  const { url, port, stop } = await listen(server);
  return {
    ...{ url, port, stop },
    takeRequests: () => requests.splice(0),
  };
}

function replies({ accessKeyId, secretAccessKey, sessionToken }: CloudCredentials) {
  const expiration = () => new Date(Date.now() + 3_600_000).toISOString();
  const asJson = () =>
    JSON.stringify({
      Code: 'Success',
      AccessKeyId: accessKeyId,
      SecretAccessKey: secretAccessKey,
      Token: sessionToken,
      Expiration: expiration(),
    });
  const asXml = (action: string) =>
    `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result><Credentials>` +
    `<AccessKeyId>${accessKeyId}</AccessKeyId><SecretAccessKey>${secretAccessKey}</SecretAccessKey>` +
    `<SessionToken>${sessionToken}</SessionToken><Expiration>${expiration()}</Expiration>` +
    `</Credentials></${action}Result></${action}Response>`;
  return (what: string, header: Header, form: URLSearchParams): EndpointReply => {
    const action = form.get('Action');
    if (action === 'AssumeRoleWithWebIdentity')
      return form.get('WebIdentityToken') === identityToken ? [200, asXml(action)] : [403, ''];
    switch (what) {
      case 'PUT /latest/api/token':
        return header('x-aws-ec2-metadata-token-ttl-seconds') ? [200, metadataToken] : [400, ''];
      case 'GET /latest/meta-data/iam/security-credentials/':
        return header('x-aws-ec2-metadata-token') === metadataToken ? [200, 'node-role'] : [401, ''];
      case 'GET /latest/meta-data/iam/security-credentials/node-role':
        return header('x-aws-ec2-metadata-token') === metadataToken ? [200, asJson()] : [401, ''];
      case 'GET /container':
        return header('authorization') === containerToken ? [200, asJson()] : [401, ''];
      case 'GET /federation/credentials': {
        if (header('x-amz-sso_bearer_token') !== ssoToken) return [401, ''];
        const { AccessKeyId, SecretAccessKey, Token } = JSON.parse(asJson());
        const roleCredentials = {
          accessKeyId: AccessKeyId,
          secretAccessKey: SecretAccessKey,
          sessionToken: Token,
          expiration: Date.now() + 3_600_000,
        };
        return [200, JSON.stringify({ roleCredentials })];
      }
      default:
        return [404, ''];
    }
  };
}
