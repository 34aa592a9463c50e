import { CfnOutput } from 'aws-cdk-lib';
import { EndpointType, type RestApi, type RestApiProps, SecurityPolicy } from 'aws-cdk-lib/aws-apigateway';
import { ARecord, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGateway } from 'aws-cdk-lib/aws-route53-targets';
import type { Construct } from 'constructs';
import type { Domain } from '../server-props.ts';

/**
 * The API at a name of its own, with an empty base path, so that clients find the metadata of OAuth at the root of the
 * host. The name that API Gateway makes up leads nowhere: nobody comes in by a name that the operator does not know of.
 */
export function domainProps({ name, certificate }: Domain): Partial<RestApiProps> {
  return {
    disableExecuteApiEndpoint: true,
    domainName: {
      domainName: name,
      certificate,
      endpointType: EndpointType.REGIONAL,
      securityPolicy: SecurityPolicy.TLS_1_2,
    },
  };
}

/** Enters the name, or says where it is to lead. */
export function pointDomain(scope: Construct, api: RestApi, { name, hostedZone: zone }: Domain): void {
  // The output with the URL that leads nowhere.
  api.node.tryRemoveChild('Endpoint');
  if (zone !== undefined) {
    new ARecord(scope, 'Alias', { zone, recordName: name, target: RecordTarget.fromAlias(new ApiGateway(api)) });
  } else if (api.domainName !== undefined) {
    const value = api.domainName.domainNameAliasDomainName;
    new CfnOutput(scope, 'DomainTarget', { description: `Where ${name} is to lead`, value });
  }
}
