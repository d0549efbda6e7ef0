{{/*
For the initContainers of a pod that trains:
  {{- include "trainwatch.sidecar" (dict "values" .Values.trainwatch "version" "0.2.0") | nindent 8 }}
*/}}
{{- define "trainwatch.sidecar" -}}
{{- $values := .values -}}
- name: trainwatch
  image: {{ printf "%s:%s" $values.image.repository ($values.image.tag | default .version) | quote }}
  imagePullPolicy: {{ $values.image.pullPolicy }}
  restartPolicy: Always
  args:
    - run
    - --watch={{ $values.sidecar.watch }}
    - --web.listen-address=0.0.0.0:{{ $values.sidecar.port }}
    {{- if $values.web.configSecret }}
    - --web.config.file=/etc/trainwatch-web/web.config.yml
    {{- else }}
    - --web.insecure=true
    {{- end }}
    - --process.ends-with-job=true
    - --process.drain-timeout={{ $values.sidecar.drainTimeout }}
    {{- range $key, $value := $values.sidecar.settings }}
    - {{ printf "--%s=%v" (replace "_" "-" $key) $value | quote }}
    {{- end }}
  env:
    - name: TRAINWATCH_LABEL_JOB
      valueFrom: {fieldRef: {fieldPath: "metadata.labels['batch.kubernetes.io/job-name']"}}
    - name: POD_NAME
      valueFrom: {fieldRef: {fieldPath: metadata.name}}
  ports:
    - name: trainwatch
      containerPort: {{ $values.sidecar.port }}
  {{- if $values.web.configSecret }}
  {{- /* The kubelet has no password. */}}
  startupProbe: {tcpSocket: {port: trainwatch}, periodSeconds: 1, failureThreshold: 60}
  livenessProbe: {tcpSocket: {port: trainwatch}, periodSeconds: 10, failureThreshold: 6}
  {{- else }}
  startupProbe: {httpGet: {path: /-/ready, port: trainwatch}, periodSeconds: 1, failureThreshold: 60}
  readinessProbe: {httpGet: {path: /-/ready, port: trainwatch}}
  livenessProbe: {httpGet: {path: /-/healthy, port: trainwatch}, periodSeconds: 10, failureThreshold: 6}
  {{- end }}
  resources: {{- toYaml $values.sidecar.resources | nindent 4 }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    readOnlyRootFilesystem: true
    allowPrivilegeEscalation: false
    capabilities: {drop: [ALL]}
    seccompProfile: {type: RuntimeDefault}
  volumeMounts:
    - {name: {{ $values.sidecar.volume }}, mountPath: {{ $values.sidecar.watch }}, readOnly: true}
    - {name: trainwatch, mountPath: /var/lib/trainwatch}
    {{- if $values.web.configSecret }}
    - {name: trainwatch-web, mountPath: /etc/trainwatch-web, readOnly: true}
    {{- end }}
{{- end }}

{{/* For the volumes of the same pod. */}}
{{- define "trainwatch.volumes" -}}
- name: trainwatch
  emptyDir: {sizeLimit: {{ .values.sidecar.stateSizeLimit }}}
{{- if .values.web.configSecret }}
- name: trainwatch-web
  secret: {secretName: {{ .values.web.configSecret }}}
{{- end }}
{{- end }}

{{/* For its labels: what is scraped, and whom the network policy is about. */}}
{{- define "trainwatch.podLabels" -}}
trainwatch: enabled
{{- end }}

{{- define "trainwatch.labels" -}}
app.kubernetes.io/name: trainwatch
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}
