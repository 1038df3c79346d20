plugins {
    id("com.android.application") version "8.13.0"
    id("org.jetbrains.kotlin.android") version "2.2.20"
}

android {
    namespace = "org.mobilevos.follow"
    compileSdk = 35
    defaultConfig {
        applicationId = "org.mobilevos.follow"
        minSdk = 28
        targetSdk = 35
    }
    androidResources { noCompress += "tflite" }
}

kotlin { jvmToolchain(17) }

dependencies {
    implementation("com.google.ai.edge.litert:litert:2.1.4")
}
